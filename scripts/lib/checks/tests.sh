# shellcheck shell=bash
# scripts/test, and the builds.

# Without its body: what is below the functions runs the tests.
take_functions() { # NAME…: of scripts/test
  local name
  for name; do eval "$(sed -n "/^$name() {/,/^}/p" "$ROOT/scripts/test")"; done
}

that_a_skip_that_no_list_names_makes_a_run_red() (
  LOG_DIR=$LOCAL SKIPPED=('tests of the services on containers: there is no Docker engine')
  take_functions judge_skips
  echo 'scripts: skipped without shellcheck: that shellcheck finds nothing' >"$LOCAL/scripts-check.log"
  WRONG=()
  judge_skips
  ((${#WRONG[@]} == 0)) || exit 1
  SKIPPED+=('tests of the services on containers: it was late')
  echo 'scripts: skipped without bash: that bash is there' >>"$LOCAL/scripts-check.log"
  judge_skips
  ((${#WRONG[@]} == 2))
)

that_a_machine_that_mounts_no_disk_may_skip_what_needs_one() {
  local file name
  while read -r file; do
    name=$(basename "$file" .java)
    grep -qE "^$name(\.\w+)?: no loop device can be mounted here$" "$ROOT/scripts/lib/skips" || { echo "$name may not be skipped"; return 1; }
  done < <(find "$ROOT/tests" -name target -prune -o -name '*IT.java' -exec grep -l 'LoopDisk.missing(.*Assumptions::abort' {} +)
}

that_images_of_tests_are_pulled_or_the_part_is_skipped() (
  take_functions pull_images
  timeout() { [[ $ENGINE == yes ]]; }
  has_image() { echo "$1" >>"$LOCAL/pulled" && [[ $1 != "$MISSING" ]]; }
  ENGINE=no MISSING=
  pull_images
  [[ ! -e $LOCAL/pulled ]]
  grep -qxF "tests of the services on containers: $NO_CONTAINERS" "$ROOT/scripts/lib/skips"
  ENGINE=yes
  (engine_is_elsewhere() { true; } && pull_images && grep -qxF "tests of the services on containers: $NO_CONTAINERS" "$ROOT/scripts/lib/skips" && [[ ! -e $LOCAL/pulled ]])
  pull_images
  [[ ! $NO_CONTAINERS && $(sort "$LOCAL/pulled" | cut -d : -f 1 | paste -sd ' ') == 'mysql rabbitmq redis' ]]
  MISSING=$(head -n 1 "$LOCAL/pulled")
  pull_images
  grep -qxF "tests of the services on containers: $NO_CONTAINERS" "$ROOT/scripts/lib/skips"
  [[ $NO_CONTAINERS == *pulled ]]
)

that_each_run_on_containers_may_make_the_part_red() (
  maven_on() { [[ "$*" != *"$RED"* ]]; }
  take_functions tests_on_containers on_containers
  JDK17=$LOCAL PROOF_SECONDS=1
  for RED in '!tests/system' 'StatementPlansIT'; do ! tests_on_containers || exit 1; done
  RED='no such argument'
  tests_on_containers
)

# Maven selects them by their paths, the judge of the reports by their names.
that_an_area_expects_the_classes_that_it_runs() (
  take_functions pattern_of classes_of
  cd "$ROOT"
  find . -name target -prune -o -path '*/src/test/java/*' -name '*.java' -print | sed -nE 's|.*/src/test/java/(.*(Test\|IT))\.java$|\1|p' | sort -u >"$LOCAL/classes"
  for area in ha direct fallback strong pages relay consumer gateway; do
    pattern=$(pattern_of "$area")
    grep -xE "($pattern)(Test|IT)" "$LOCAL/classes" | tr / . >"$LOCAL/run"
    tr / . <"$LOCAL/classes" | grep -xE "$(classes_of "$pattern")" | diff "$LOCAL/run" -
  done
)

# As when it is killed; whoever waits for it has its exit code.
that_checks_without_counts_do_not_end_the_report() (
  mkdir -p "$LOCAL/bin"
  printf '#!/bin/sh\necho classes\necho 7 0 0\n' >"$LOCAL/bin/java"
  chmod 755 "$LOCAL/bin/java"
  JDK17=$LOCAL MARKER='' TIER=area WRONG=('scripts, beside the build') SKIPPED=() TIMES=('1s  scripts') LOG_DIR=$LOCAL
  PASSES=(proof . '')
  echo Killed >"$LOCAL/scripts-check.log"
  take_functions script_counts judge_skips report
  report >"$LOCAL/said" &
  wait $! && exit 1
  grep -qx '7 passed, 0 failed, 0 skipped' "$LOCAL/said" && grep -qx 'failed: scripts, beside the build' "$LOCAL/said"
)

that_a_history_is_judged_without_servers() {
  touch "$LOCAL/history"
  test_script --judge "$LOCAL/history" && grep -q -- "-Dtest=JudgeHistory -Dseckill.history=$LOCAL/history" "$LOCAL/asked"
}

that_tests_have_one_area_or_history() {
  refuses_with usage test_script --area relay gateway && refuses_with usage test_script --judge one two &&
    refuses_with usage test_script --area && refuses_with usage test_script --proof relay &&
    refuses_with 'there are no servers' test_script --area relay
}

# As with the option noexec: a folder cannot be run, either.
that_a_temporary_folder_without_programs_is_refused() {
  mkdir "$LOCAL/bin"
  printf '#!/bin/sh\necho "%s"\n' "$LOCAL" >"$LOCAL/bin/mktemp"
  chmod 755 "$LOCAL/bin/mktemp"
  refuses_with "no program can run in ${LOCAL%/*}" test_script --judge "$LOCAL/history"
}

that_a_signal_to_the_tests_alone_ends_maven() {
  local tests
  touch "$LOCAL/history"
  test_script --judge "$LOCAL/history"
  printf '#!/bin/sh\necho begun >"%s"\nsleep 120 && echo ended >"%s"\n' "$LOCAL/asked" "$LOCAL/asked" >"$LOCAL/bin/mvn"
  PATH=$LOCAL/bin:$PATH "$LOCAL/tests/scripts/test" --judge "$LOCAL/history" &
  tests=$!
  for _ in {1..600}; do grep -q begun "$LOCAL/asked" || sleep 0.1; done
  kill "$tests"
  ! wait "$tests" && grep -q begun "$LOCAL/asked"
}

test_script() { # ARGUMENT…: of scripts/test, whose Maven only writes what it was asked, and which cannot install anything
  local tree=$LOCAL/tests
  mkdir -p "$tree" "$LOCAL/bin"
  cp -r "$ROOT/scripts" "$tree/"
  echo 'install_missing() { fail "there are no servers"; }' >>"$tree/scripts/lib/install.sh"
  printf '#!/bin/sh\necho "$*" >>"%s"\n' "$LOCAL/asked" >"$LOCAL/bin/mvn"
  chmod 755 "$LOCAL/bin/mvn"
  PATH=$LOCAL/bin:$PATH "$tree/scripts/test" "$@"
}

that_shellcheck_finds_nothing() {
  cd "$ROOT/scripts" && shellcheck up down kill promote backup restore token test bench lib/*.sh lib/check lib/checks/*.sh
}

that_no_build_fails_for_what_a_newer_compiler_warns_of() (
  # shellcheck source=/dev/null
  . "$ROOT/scripts/lib/bench.sh"
  take_functions build_and_tests maven_on maven_in_root servers_folder seed
  ROOT=$LOCAL JAVA=java JDK17=$LOCAL
  maven() { echo "$*" >>"$LOCAL/asked"; }
  jars_are_current() { false; }
  bench_is_current() { false; }
  jar_of() { echo "$LOCAL/jar"; }
  java_version() { echo "$RELEASE"; }
  for RELEASE in 17 25; do
    build_services
    build_bench
    build_and_tests
    sed -n '/-Dstrict=false/p' "$LOCAL/asked" | wc -l >>"$LOCAL/lenient"
  done
  [[ $(paste -sd ' ' "$LOCAL/lenient") == '0 3' ]]
)

that_no_build_keeps_migrations_that_its_sources_do_not_have() (
  local build former=$LOCAL/order-consumer/target/classes/db/migration/V999__newer.sql
  # shellcheck source=/dev/null
  . "$ROOT/scripts/lib/bench.sh"
  take_functions build_and_tests maven_on maven_in_root servers_folder seed
  ROOT=$LOCAL JAVA=java JDK17=$LOCAL MODULES=order-consumer
  maven() { [[ ! -e $former ]] && touch "$LOCAL/built"; }
  jars_are_current() { false; }
  bench_is_current() { false; }
  jar_of() { echo "$LOCAL/jar"; }
  java_version() { echo 17; }
  for build in build_services build_bench build_and_tests; do
    mkdir -p "${former%/*}"
    touch "$former"
    rm -f "$LOCAL/built"
    "$build"
    [[ -e $LOCAL/built ]]
  done
)

that_builds_of_one_checkout_exclude_each_other() (
  local build tree=$LOCAL/tests
  # shellcheck source=/dev/null
  . "$ROOT/scripts/lib/bench.sh"
  mkdir -p "$tree/target" "$tree/order-consumer/target/classes/db"
  touch "$LOCAL/history"
  exec 8>"$tree/target/build.lock"
  flock 8
  refuses_with 'another build is at work' test_script --judge "$LOCAL/history"
  ROOT=$tree JAVA=java MODULES=order-consumer
  maven() { touch "$LOCAL/asked"; }
  jars_are_current() { false; }
  bench_is_current() { false; }
  java_version() { echo 17; }
  for build in build_services build_bench; do refuses_with 'another build is at work' "$build"; done
  [[ -e $tree/order-consumer/target/classes/db && ! -e $LOCAL/asked ]]
  exec 8>&-
  for build in build_services build_bench; do
    rm -f "$LOCAL/asked"
    "$build"
    [[ -e $LOCAL/asked ]]
  done
)

that_a_jdk_without_maven_and_unzip_builds_nothing() (
  has() { case $1 in mvn | unzip) [[ $HERE == "$1" ]] ;; *) command -v "$1" ;; esac; }
  for HERE in mvn unzip; do can_build || exit; done
  HERE=
  ! can_build
)
