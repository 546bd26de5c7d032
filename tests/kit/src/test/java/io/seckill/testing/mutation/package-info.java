/**
 * Mutation tests: they change one thing in the product, run the test that should detect the change,
 * and expect it to fail for that reason.
 *
 * <p>The product's files are not changed. A {@link io.seckill.testing.mutation.Mutation} lists what
 * to change; {@link io.seckill.testing.mutation.Mutants} runs its test in a class loader of its
 * own, which changes classes and resources while they are loaded, in this JVM and on its shared
 * servers. {@link io.seckill.testing.mutation.MutantJar} writes a service's jar with the changes in
 * it, to be run as a process. An edit that has nothing to change is an error, and so is one that a
 * test in this JVM never loads.
 */
package io.seckill.testing.mutation;
