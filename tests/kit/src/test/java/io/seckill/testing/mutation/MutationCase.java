package io.seckill.testing.mutation;

/**
 * A mutation, and the test that must detect it.
 *
 * @param test {@code class#method}
 * @param complaint part of the message with which the test must fail
 */
public record MutationCase(Mutation mutation, String test, String complaint) {

  @Override
  public String toString() {
    return mutation.name();
  }
}
