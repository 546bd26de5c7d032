package io.seckill.gateway.backends;

import tools.jackson.databind.JsonNode;

/**
 * A successful response of order-consumer.
 *
 * @param status 200..299
 */
public record ConsumerAnswer(int status, JsonNode body) {}
