package io.seckill.system.faults;

import io.seckill.system.process.ForkFolder;
import io.seckill.system.process.Service;
import io.seckill.testing.mutation.MutantJar;
import io.seckill.testing.mutation.Mutation;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The services that a lab runs: as they are built, or changed by mutations. */
public final class ServicesUnderTest {

  public static final ServicesUnderTest AS_BUILT =
      new ServicesUnderTest(Map.of(), FaultRun.DRAIN_LIMIT);

  /** Long enough for two reconciliations, which have then repaired everything that they can. */
  private static final Duration MUTANT_PATIENCE = Duration.ofSeconds(12);

  private static final String RECONCILING_SOON = "-Dseckill.reconciliation.interval=5s";

  private final Map<Service, List<Mutation>> mutations;
  private final Duration patience;

  private ServicesUnderTest(Map<Service, List<Mutation>> mutations, Duration patience) {
    this.mutations = Map.copyOf(mutations);
    this.patience = patience;
  }

  /**
   * Writes the jars of the services that are changed.
   *
   * @throws IllegalArgumentException when a mutation has nothing to change
   */
  static ServicesUnderTest mutated(Map<Service, List<Mutation>> mutations) {
    ServicesUnderTest services = new ServicesUnderTest(mutations, MUTANT_PATIENCE);
    mutations.forEach(
        (service, changes) -> MutantJar.write(service.jar(), mutant(service), changes));
    return services;
  }

  /** The arguments of java that name the program. */
  List<String> runs(Service service) {
    return mutations.containsKey(service)
        ? List.of("-jar", mutant(service).toString())
        : service.unpacked();
  }

  private static Path mutant(Service service) {
    return ForkFolder.path().resolve("mutants").resolve(service.module() + ".jar");
  }

  /** Settings of the mutations, as flags of the service's JVM. */
  List<String> jvmFlags(Service service) {
    List<String> flags = new ArrayList<>();
    if (service == Service.CONSUMER && !mutations.isEmpty()) {
      flags.add(RECONCILING_SOON);
    }
    Map<String, String> settings = new HashMap<>();
    mutations.getOrDefault(service, List.of()).forEach(one -> settings.putAll(one.settings()));
    settings.forEach((key, value) -> flags.add("-D" + key + "=" + value));
    return flags;
  }

  /** How long nothing must have changed before a run with violations is ended. */
  Duration patience() {
    return patience;
  }
}
