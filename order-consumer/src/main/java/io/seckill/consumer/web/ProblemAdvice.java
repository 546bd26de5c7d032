package io.seckill.consumer.web;

import io.seckill.support.logging.ThrottledLog;
import io.seckill.support.web.Problem;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import org.apache.tomcat.util.http.InvalidParameterException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.transaction.TransactionException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.WebRequest;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Turns every failure of a request into a problem+json response with a stable code. Exception texts
 * appear only in the log.
 */
@RestControllerAdvice
class ProblemAdvice extends ResponseEntityExceptionHandler {

  private static final Logger log = LoggerFactory.getLogger(ProblemAdvice.class);

  private final ThrottledLog storeFailures = new ThrottledLog(log);

  @ExceptionHandler
  ResponseEntity<Object> onProblem(ProblemException e) {
    return response(e.problem(), HttpHeaders.EMPTY);
  }

  /** MySQL or Redis is unavailable, slow or refuses: whether the request took effect is unknown. */
  @ExceptionHandler({DataAccessException.class, TransactionException.class, JedisException.class})
  ResponseEntity<Object> onStoreFailure(RuntimeException e) {
    storeFailures.warn("MySQL or Redis failed during a request to the internal port", e);
    return response(
        Problem.of(
            ProblemCode.UNAVAILABLE, "A store does not answer; send the same request again."),
        HttpHeaders.EMPTY);
  }

  /** Tomcat cannot read the query: wrong encoding, a parameter without a name, or too many. */
  @ExceptionHandler
  ResponseEntity<Object> onUnreadableQuery(InvalidParameterException e) {
    return response(
        new Problem(ProblemCode.INVALID_REQUEST, null, "query", null, null), HttpHeaders.EMPTY);
  }

  @ExceptionHandler
  ResponseEntity<Object> onDefect(RuntimeException e) {
    log.error("A request of the internal port failed", e);
    return response(Problem.of(ProblemCode.INTERNAL_ERROR), HttpHeaders.EMPTY);
  }

  /** Handles requests that the web framework itself rejects: wrong path, method or media type. */
  @Override
  protected @Nullable ResponseEntity<Object> handleExceptionInternal(
      Exception e,
      @Nullable Object body,
      HttpHeaders headers,
      HttpStatusCode status,
      WebRequest request) {
    return response(Problem.of(ProblemCode.ofStatus(status.value())), headers);
  }

  private static ResponseEntity<Object> response(Problem problem, HttpHeaders headers) {
    HttpHeaders all = new HttpHeaders();
    all.putAll(headers);
    all.setContentType(MediaType.APPLICATION_PROBLEM_JSON);
    problem.headers().forEach(all::set);
    return ResponseEntity.status(problem.status()).headers(all).body(problem.body());
  }
}
