package io.seckill.consumer.web;

import io.seckill.support.web.Problem;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;

/** The answer to a request that reaches no controller. */
public final class RefusedRequest {

  private RefusedRequest() {}

  static void write(HttpServletResponse response, Problem problem) throws IOException {
    response.setStatus(problem.status());
    problem.headers().forEach(response::setHeader);
    response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
    response.getOutputStream().write(problem.json(null).getBytes(StandardCharsets.UTF_8));
  }

  /**
   * Ends a request whose body has not been read, and its connection with it: else Tomcat waits on
   * this thread for the rest of the body, however slowly it comes.
   */
  public static void end(AsyncContext request, Problem problem) throws IOException {
    HttpServletResponse response = (HttpServletResponse) request.getResponse();
    response.setHeader(HttpHeaders.CONNECTION, "close");
    write(response, problem);
    request.complete();
  }
}
