package io.seckill.relay;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeJars;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import io.seckill.testing.architecture.ArchitectureRules;

/** The lanes, in a jar of their own, are checked in relay-lanes. */
@AnalyzeClasses(
    packages = "io.seckill.relay",
    importOptions = {DoNotIncludeTests.class, DoNotIncludeJars.class})
class RelayServiceArchitectureTest {

  @ArchTest static final ArchTests rules = ArchTests.in(ArchitectureRules.class);
}
