/**
 * Proves tests: changes one thing in the product, runs the test that is there to notice, and wants
 * it to fail for that reason.
 *
 * <p>The product's files stay as they are. A {@link io.seckill.testing.mutation.Mutation} lists
 * what to change; {@link io.seckill.testing.mutation.Mutants} runs its test in a class loader of
 * its own, which changes classes and resources while they are loaded, in this JVM and on its shared
 * servers. A change that finds nothing to change is an error, and so is one the test never loads.
 */
@NullMarked
package io.seckill.testing.mutation;

import org.jspecify.annotations.NullMarked;
