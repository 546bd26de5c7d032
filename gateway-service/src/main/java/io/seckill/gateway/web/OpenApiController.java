package io.seckill.gateway.web;

import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.Resource;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Serves the OpenAPI 3.1 description of each port. */
@RestController
final class OpenApiController {

  private static final String YAML = "application/yaml";

  private final Resource shopper = new ClassPathResource("openapi/shopper.yaml");
  private final Resource admin = new ClassPathResource("openapi/admin.yaml");

  @GetMapping(path = "/api/v1/openapi.yaml", produces = YAML)
  Resource shopper() {
    return shopper;
  }

  @GetMapping(path = "/admin/v1/openapi.yaml", produces = YAML)
  Resource admin() {
    return admin;
  }
}
