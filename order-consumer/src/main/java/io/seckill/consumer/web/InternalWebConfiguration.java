package io.seckill.consumer.web;

import io.seckill.support.web.Operator;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.StrictJson;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.MethodParameter;
import org.springframework.http.MediaType;
import org.springframework.web.HttpMediaTypeNotSupportedException;
import org.springframework.web.bind.support.WebDataBinderFactory;
import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.method.support.HandlerMethodArgumentResolver;
import org.springframework.web.method.support.ModelAndViewContainer;
import org.springframework.web.servlet.config.annotation.ContentNegotiationConfigurer;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/** Resolves {@link JsonBody} and {@link Operator} arguments of handlers; answers are JSON. */
@Configuration(proxyBeanMethods = false)
class InternalWebConfiguration implements WebMvcConfigurer {

  /** Or another Accept header would turn the answer into a 406 after the request took effect. */
  @Override
  public void configureContentNegotiation(ContentNegotiationConfigurer types) {
    types.ignoreAcceptHeader(true).defaultContentType(MediaType.ALL);
  }

  @Override
  public void addArgumentResolvers(List<HandlerMethodArgumentResolver> resolvers) {
    resolvers.add(
        resolver(
            parameter -> parameter.hasParameterAnnotation(JsonBody.class),
            (request, type) -> StrictJson.read(json(request), type)));
    resolvers.add(
        resolver(
            parameter -> parameter.getParameterType() == Operator.class,
            (request, type) -> Operator.of(request.getHeader(Operator.HEADER))));
  }

  private static byte[] json(HttpServletRequest request)
      throws IOException, HttpMediaTypeNotSupportedException {
    String type = request.getContentType();
    if (type == null || !type.regionMatches(true, 0, "application/json", 0, 16)) {
      throw new HttpMediaTypeNotSupportedException("Content-Type must be application/json");
    }
    // At most one byte more than is allowed: no default of the framework limits a JSON body.
    byte[] body = request.getInputStream().readNBytes(JsonBody.MAX_BYTES + 1);
    if (body.length > JsonBody.MAX_BYTES) {
      throw ProblemException.of(
          ProblemCode.PAYLOAD_TOO_LARGE,
          "The body is longer than " + JsonBody.MAX_BYTES + " bytes.");
    }
    return body;
  }

  private static HandlerMethodArgumentResolver resolver(
      Predicate<MethodParameter> supported, Reading reading) {
    return new HandlerMethodArgumentResolver() {
      @Override
      public boolean supportsParameter(MethodParameter parameter) {
        return supported.test(parameter);
      }

      @Override
      public Object resolveArgument(
          MethodParameter parameter,
          @Nullable ModelAndViewContainer container,
          NativeWebRequest request,
          @Nullable WebDataBinderFactory binders)
          throws Exception {
        HttpServletRequest servlet =
            Objects.requireNonNull(request.getNativeRequest(HttpServletRequest.class));
        return reading.of(servlet, parameter.getParameterType());
      }
    };
  }

  private interface Reading {
    Object of(HttpServletRequest request, Class<?> type) throws Exception;
  }
}
