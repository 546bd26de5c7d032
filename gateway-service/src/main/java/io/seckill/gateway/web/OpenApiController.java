package io.seckill.gateway.web;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.springframework.core.io.ClassPathResource;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Serves the OpenAPI 3.1 description of each port, read once and always as a whole: of a {@code
 * Resource} Spring would read each range that a request asks for.
 */
@RestController
final class OpenApiController {

  private static final String YAML = "application/yaml";

  private final byte[] shopper = read("openapi/shopper.yaml");
  private final byte[] admin = read("openapi/admin.yaml");

  @GetMapping(path = "/api/v1/openapi.yaml", produces = YAML)
  byte[] shopper() {
    return shopper;
  }

  @GetMapping(path = "/admin/v1/openapi.yaml", produces = YAML)
  byte[] admin() {
    return admin;
  }

  private static byte[] read(String file) {
    try {
      return new ClassPathResource(file).getContentAsByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
