# shellcheck shell=bash
# The benchmark program: run from the classes of tests/benchmark.

BENCH_DIR=$LOCAL/bench
BENCH_CLASSES=$ROOT/tests/benchmark/target/test-classes
BENCH_STAGES='admission refused start relay consumer e2e stored burst after memory slowest channels alternatives shards wallet large'
# The services as scripts/up starts them.
BENCH_SERVICE_FLAGS=${SECKILL_JAVA_FLAGS:--Xmx512m -XX:MaxDirectMemorySize=192m -XX:+ExitOnOutOfMemoryError}
# Where Redis, RabbitMQ and MySQL run.
BENCH_SERVERS=processes
# The newest version that Maven Central resolves.
PERF_TEST=2.22.1

check_bench_arguments() { # [--quick] [--tenfold] [--containers] [--only STAGE,…]
  local stage
  while (($# > 0)); do
    case $1 in
      --quick | --tenfold) shift ;;
      --containers)
        BENCH_SERVERS=containers
        shift
        ;;
      --only)
        for stage in $(tr ',' ' ' <<<"${2:-none}"); do
          [[ " $BENCH_STAGES " == *" $stage "* ]] || fail "there is no stage '$stage'; there are: $BENCH_STAGES"
        done
        shift 2
        ;;
      *) fail "usage: scripts/bench [--quick] [--tenfold] [--containers] [--only STAGE,…]" ;;
    esac
  done
}

install_wrk() {
  ! has wrk || return 0
  if ! is_debian_12 || ! is_root; then
    fail "wrk is not installed; install it, or run this as root on Debian"
  fi
  say "installing wrk (log: $LOG_DIR/apt.log)"
  mkdir -p "$LOG_DIR"
  apt_install wrk || fail "apt-get could not install wrk; see $LOG_DIR/apt.log"
}

build_bench() { # unless its classes are newer than its sources
  mkdir -p "$BENCH_DIR"
  ! bench_is_current || return 0
  lock_build
  say "building the benchmark (log: $LOG_DIR/bench-build.log)"
  mkdir -p "$LOG_DIR"
  perf_test_pom | write_file "$BENCH_DIR/perf-test.pom"
  remove_built_migrations
  (
    umask 022
    cd "$ROOT" &&
      maven -q -B -DskipTests -Dspotless.check.skip=true "$(strict_on "$JAVA")" -pl tests/benchmark -am package \
        dependency:build-classpath -Dmdep.outputFile="$BENCH_DIR/classpath" &&
      maven -q -B -f "$BENCH_DIR/perf-test.pom" \
        dependency:build-classpath -Dmdep.outputFile="$BENCH_DIR/perf-test.classpath"
  ) >"$LOG_DIR/bench-build.log" 2>&1 </dev/null || fail "the build failed; see $LOG_DIR/bench-build.log"
  touch "$BENCH_DIR/built"
  unlock_build
}

bench_is_current() {
  local newer
  [[ -e $BENCH_DIR/built && -e $BENCH_CLASSES ]] || return 1
  newer=$(find "$ROOT/pom.xml" "$ROOT"/{common,tests/{kit,system,benchmark}}/{pom.xml,src} -newer "$BENCH_DIR/built" -print -quit)
  [[ -z $newer ]]
}

# PerfTest needs other versions of our libraries, so it has a separate class path.
perf_test_pom() {
  cat <<END
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>io.seckill</groupId>
  <artifactId>perf-test-class-path</artifactId>
  <version>0</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>com.rabbitmq</groupId>
      <artifactId>perf-test</artifactId>
      <version>$PERF_TEST</version>
    </dependency>
  </dependencies>
</project>
END
}

run_bench() { # ARGUMENT…: returns the program's exit code, 1 when an order was lost, stock oversold or a guarantee broken
  local terminal=false code=0
  [[ ! -t 1 ]] || terminal=true
  mkdir -p "$BENCH_DIR/tmp"
  interruptible bench_in_its_folder "$terminal" "$@" || code=$?
  say "reports: $BENCH_DIR/report.json, details.json, report.html"
  return "$code"
}

bench_in_its_folder() { # TERMINAL ARGUMENT…
  local terminal=$1
  shift
  cd "$BENCH_DIR" || exit 1
  export TESTCONTAINERS_RYUK_DISABLED=true
  "$JAVA" -Xmx2g -cp "$BENCH_CLASSES:$(<"$BENCH_DIR/classpath")" \
    -Dseckill.root="$ROOT" -Djava.io.tmpdir="$BENCH_DIR/tmp" \
    -Dlogback.configurationFile=io/seckill/bench/logback.xml \
    -Dseckill.service.flags="$BENCH_SERVICE_FLAGS" \
    -Dseckill.bench.terminal="$terminal" \
    -Dseckill.test.servers="$BENCH_SERVERS" \
    -Dseckill.bench.perftest.classpath="$BENCH_DIR/perf-test.classpath" \
    io.seckill.bench.Bench "$@"
}
