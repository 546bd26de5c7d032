# shellcheck shell=bash
# The JDK and the build.

MODULES='order-consumer relay-service gateway-service'

# Sets JAVA to a Java of 17 or newer: the one of JAVA_HOME, else the one on the PATH.
choose_java() {
  local version
  # Maven and the services run in other directories.
  [[ ${JAVA_HOME:-/} == /* ]] || JAVA_HOME=$PWD/$JAVA_HOME
  JAVA=${JAVA_HOME:+$JAVA_HOME/bin/}java
  has "$JAVA" || fail "there is no $JAVA; a JDK of 17 or newer is needed (Debian: apt-get install openjdk-17-jdk-headless)"
  version=$(java_version "$JAVA")
  ((version >= 17)) || fail "$JAVA is Java $version; 17 or newer is needed, set JAVA_HOME to one"
}

# A service that cannot start with them, as with the relative path of an agent, would say so after minutes.
require_java_flags() { # FLAGS DIRECTORY of the services
  local said
  mkdir -p "$2"
  # shellcheck disable=SC2086 # flags are words
  said=$(cd "$2" && timeout 60 "$JAVA" $1 -version 2>&1) ||
    fail "Java does not start with the flags '$1' in $2, where services run; SECKILL_JAVA_FLAGS needs whole paths: ${said//$'\n'/ }"
}

# Is there a JDK that choose_java accepts, and Maven or what mvnw needs?
can_build() {
  (choose_java && has "${JAVA}c" && { has mvn || has unzip; }) >/dev/null 2>&1
}

java_version() { # JAVA: prints the feature release, 17 of 17.0.15; 0 when it is unknown
  local text
  text=$("$1" -version 2>&1) || true
  if [[ $text =~ version\ \"([0-9]+) ]]; then echo "${BASH_REMATCH[1]}"; else echo 0; fi
}

# A newer compiler may warn of more than the one of scripts/test.
strict_on() { # JAVA: prints an argument for Maven
  if (($(java_version "$1") == 17)); then echo -Dstrict=true; else echo -Dstrict=false; fi
}

maven() { # ARGUMENT…
  if has mvn; then
    mvn "$@"
  else
    has unzip || fail "neither Maven nor unzip, which mvnw needs, is installed; install one of them"
    "$ROOT/mvnw" "$@"
  fi
}

jar_of() { # MODULE
  printf '%s/%s/target/%s.jar\n' "$ROOT" "$1" "$1"
}

# Maven keeps copies of migrations that the sources no longer have, such as those of a newer release.
remove_built_migrations() {
  rm -rf "$ROOT/order-consumer/target/classes/db"
}

# Two builds would replace each other's files. The lock ends with unlock_build, or with this process and its Maven.
lock_build() {
  has flock || fail "flock is not installed; install util-linux"
  mkdir -p "$ROOT/target"
  exec 7>"$ROOT/target/build.lock"
  flock -n 7 || fail "another build is at work in $ROOT; wait for it to end"
}

unlock_build() {
  exec 7>&-
}

build_services() { # unless every jar is newer than every source
  local module start
  ! jars_are_current || return 0
  has "${JAVA}c" || fail "$JAVA is a runtime without a compiler; a JDK is needed (Debian: apt-get install openjdk-17-jdk-headless)"
  lock_build
  say "building the services (log: $LOG_DIR/build.log)"
  mkdir -p "$LOG_DIR"
  printf -v start '%(%s)T' -1
  remove_built_migrations
  # The format check is part of scripts/test. The jars are readable for all: images copy them.
  (cd "$ROOT" && umask 022 && maven -q -B -DskipTests -Dspotless.check.skip=true "$(strict_on "$JAVA")" -pl "${MODULES// /,}" -am package) \
    >"$LOG_DIR/build.log" 2>&1 </dev/null || fail "the build failed; see $LOG_DIR/build.log"
  # Maven does not rewrite a jar whose classes are unchanged; mark it as current.
  for module in $MODULES; do touch -d "@$start" "$(jar_of "$module")"; done
  unlock_build
}

jars_are_current() {
  local module jar newer
  for module in $MODULES; do
    jar=$(jar_of "$module")
    [[ -e $jar ]] || return 1
    newer=$(find "$ROOT/pom.xml" "$ROOT"/{common,service-support,relay-lanes,"$module"}/{pom.xml,src/main} -newer "$jar" -print -quit)
    [[ -z $newer ]] || return 1
  done
}

home_of() { # JAVA: the directory above its bin
  local path
  path=$(readlink -f "$(command -v "$1")")
  printf '%s\n' "${path%/bin/java}"
}

find_jdk() { # RELEASE: prints the home of such a JDK: the chosen one, else one under /usr/lib/jvm
  local home
  for home in "$(home_of "$JAVA")" /usr/lib/jvm/*; do
    if [[ -x $home/bin/javac && $(java_version "$home/bin/java") == "$1" ]]; then
      printf '%s\n' "$home"
      return
    fi
  done
  return 1
}
