/**
 * Proves tests: changes one thing in the product, runs the test that is there to notice, and wants
 * it to fail for that reason.
 *
 * <p>The product's files stay as they are. A {@link io.seckill.testing.mutation.Mutation} lists
 * what to change; {@link io.seckill.testing.mutation.Mutants} runs its test in a class loader of
 * its own, which changes classes and resources while they are loaded, in this JVM and on its shared
 * servers. {@link io.seckill.testing.mutation.MutantJar} writes a service's jar with the changes in
 * it, to be run as a process. A change that finds nothing to change is an error, and so is one that
 * a test in this JVM never loads.
 */
@NullMarked
package io.seckill.testing.mutation;

import org.jspecify.annotations.NullMarked;
