# shellcheck shell=bash
# What scripts need of the machine, and what they take of the environment of their caller.

that_tokens_are_signed_as_rfc_4231_says() { # its test case 2
  [[ $(hmac_sha256 Jefe 'what do ya want for nothing?') == 5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843 ]]
}

that_tokens_for_nobody_are_refused() {
  refuses_with 'whole number' "$ROOT/scripts/token" shopper 42x &&
    refuses_with 'whole number' "$ROOT/scripts/token" shopper -1 &&
    refuses_with 'usage' "$ROOT/scripts/token" operator
}

that_no_script_looks_elsewhere_for_its_parts() {
  cd "$ROOT" && export CDPATH=$ROOT && refuses_with usage scripts/backup
}

that_no_script_reaches_a_server_that_the_environment_names() {
  MYSQL_HOST=192.0.2.1 MYSQL_GROUP_SUFFIX=-ha MARIADB_PORT=1 bash -euc '. "$0" && env' "$ROOT/scripts/lib/common.sh" >"$LOCAL/environment"
  none grep -E '^(MYSQL|MARIADB)_' "$LOCAL/environment"
  grep -rnE '(mariadb|mysql) [^`]*--socket=' "$ROOT/docs" | none grep -v -- ' --host=localhost '
}

# Meant for other servers and services of the caller. RabbitMQ reads its variables with its prefix and without.
variables_for_others() {
  cat <<'END'
CONFIG_FILE=/etc/rabbitmq/rabbitmq
ENABLED_PLUGINS_FILE=/etc/rabbitmq/enabled_plugins
LOGS=/var/log/rabbitmq/other.log
LOG_BASE=/var/log/rabbitmq
MNESIA_BASE=/var/lib/rabbitmq/mnesia
MNESIA_DIR=/var/lib/rabbitmq/mnesia/other
NODENAME=rabbit@elsewhere
NODE_PORT=5672
PLUGINS_DIR=/nowhere
QUORUM_DIR=/var/lib/rabbitmq/quorum
RABBITMQ_MNESIA_DIR=/var/lib/rabbitmq/mnesia/other
RABBITMQ_NODE_ONLY=true
RABBITMQ_SERVER_START_ARGS=-nothing
SERVER_START_ARGS=-nothing
USE_LONGNAME=true
ERL_AFLAGS=-name other
ERL_CRASH_DUMP=/nowhere/dump
ERL_EPMD_PORT=4369
ERL_FLAGS=-name other
ERL_INETRC=/nowhere/inetrc
ERL_LIBS=/nowhere
ERL_ZFLAGS=-name other
NOTIFY_SOCKET=/nowhere/notify
MARIADB_PORT=3306
MYSQL_HOST=192.0.2.1
UMASK=0666
UMASK_DIR=0777
HAPROXY_MWORKER=1
JAVA_TOOL_OPTIONS=-agentlib:nothing
JDK_JAVA_OPTIONS=-agentlib:nothing
_JAVA_OPTIONS=-Xmx1m
LOGGING_CONFIG=/nowhere/logback.xml
MANAGEMENT_SERVER_PORT=1
SECKILL_ADMISSION_DURABLEIN=broker
SECKILL_DEMO_ENABLED=false
SECKILL_FALLBACK=automatic
SECKILL_REDIS_CAFILE=/nowhere/ca.pem
SECKILL_SHUTDOWN_DELAY=61s
SERVER_SSL_ENABLED=true
SPRING_APPLICATION_JSON={"server.port":1}
SPRING_CONFIG_LOCATION=/nowhere/
SPRING_PROFILES_ACTIVE=prod
COMPOSE_PROFILES=observability
COMPOSE_FILE=/nowhere/compose.yaml
JAVA_IMAGE=java:1
REDIS_IMAGE=redis:1
BASH_ENV=/nowhere/bashrc
LOADER_PATH=/nowhere
LD_LIBRARY_PATH=/nowhere
TZ=Asia/Shanghai
seckill.fallback=automatic
spring.profiles.active=prod
END
}

# In processes and in containers, once scripts/up has read what it takes itself.
that_nothing_that_starts_obeys_variables_for_others() (
  local tree=$LOCAL/called mode given
  mkdir -p "$tree/.local"
  cp -r "$ROOT/scripts" "$tree/"
  cat >>"$tree/scripts/lib/demo.sh" <<'END'
for part in build_services check_ports choose_images choose_java install_missing refuse_lost_passwords require_docker require_java_flags require_memory; do
  eval "$part() { :; }"
done
containers_run() { false; }
start_servers() { started_with >"$ROOT/environment"; }
start_services() {
  for service in "${GATEWAYS%% *}" "${RELAYS%% *}" "${CONSUMERS%% *}"; do (common_environment "$service" && started_with); done >>"$ROOT/environment"
  migrate && cat "$LOG_DIR/migration.log" >>"$ROOT/environment"
}
start_containers() { env | grep -v '^[a-z]*\.' >"$ROOT/environment"; } # which Compose cannot name
started_with() { start_process part env && wait && cat "$LOG_DIR/part.log"; }
write_env() { echo "$REDIS_PORT $JAVA_FLAGS" >"$ROOT/taken"; exit; }
END
  printf '#!/bin/bash\nexec env\n' >"$tree/java"
  chmod 755 "$tree/java"
  echo 'JAVA=$ROOT/java' >>"$tree/scripts/lib/demo.sh"
  variables_for_others >"$LOCAL/given"
  mapfile -t given <"$LOCAL/given"
  for mode in 'processes single' 'processes ha' 'docker single'; do
    echo "$mode" >"$tree/.local/mode"
    env "${given[@]}" SECKILL_REDIS_PORT=4711 SECKILL_REDIS_1_PORT=4712 REDIS_PORT=6379 SECKILL_JAVA_FLAGS=-Xmx300m \
      DOCKER_HOST=unix:///engine https_proxy=http://127.0.0.1:1 SECKILL_TEST_RUN=mine "$tree/scripts/up"
    none grep -xFf "$LOCAL/given" "$tree/environment"
    [[ $(grep -xE 'DOCKER_HOST=unix:///engine|https_proxy=http://127.0.0.1:1|SECKILL_TEST_RUN=mine' "$tree/environment" | sort -u | wc -l) == 3 ]]
    [[ $mode == *ha || $(<"$tree/taken") == '4711 -Xmx300m' ]]
  done
)

that_programs_are_the_same_in_every_directory() {
  mkdir -p "$LOCAL/jdk/bin" "$LOCAL/elsewhere"
  printf '#!/bin/sh\necho '"'version \"17.0.1\"'"' >&2\n' >"$LOCAL/jdk/bin/java"
  chmod 755 "$LOCAL/jdk/bin/java"
  cd "$LOCAL/jdk"
  for path in "bin:$PATH" "./bin:$PATH" "../jdk/bin:$PATH" "$LOCAL/nowhere:bin:$PATH" \~/jdk/bin:"$PATH"; do
    [[ $(unset JAVA_HOME && HOME=$LOCAL PATH=$path where_java_is) == "$LOCAL"/*bin/java ]]
  done
  cd bin
  [[ $(unset JAVA_HOME && PATH=:$PATH where_java_is) == "$LOCAL/jdk/bin/"*java ]]
  [[ $(JAVA_HOME=.. where_java_is) == "$LOCAL/jdk/bin/../bin/java" ]]
}

where_java_is() { # for a program: unlike bash it reads no ~
  bash -euc '. "$0/scripts/lib/common.sh" && . "$0/scripts/lib/java.sh" && choose_java && cd / && sh -c '\''command -v "$0"'\'' "$JAVA"' "$ROOT"
}

that_java_flags_without_a_whole_path_are_refused() {
  JAVA=$LOCAL/java
  printf '#!/bin/sh\nfor flag; do case $flag in -javaagent:*) [ -e "${flag#*:}" ] || { echo "Error opening $flag" && exit 1; } ;; esac; done\n' >"$JAVA"
  chmod 755 "$JAVA"
  touch "$LOCAL/agent.jar"
  cd "$LOCAL"
  require_java_flags "-Xmx512m -javaagent:$LOCAL/agent.jar" "$LOCAL/app"
  refuses_with 'needs whole paths: Error opening -javaagent:agent.jar' require_java_flags '-Xmx512m -javaagent:agent.jar' "$LOCAL/app"
}

that_every_script_prints_its_manual() {
  local script option=-h
  for script in up down kill promote backup restore token test bench; do
    "$ROOT/scripts/$script" "$option" >"$LOCAL/said" 2>"$LOCAL/failed"
    [[ $(head -n 1 "$LOCAL/said") == "$(sed -n '2s/^# //p' "$ROOT/scripts/$script")" && ! -s $LOCAL/failed ]]
    none grep '^#' "$LOCAL/said"
    option=--help
  done
}

# As of cron. mvnw ends without it.
that_a_caller_without_a_home_has_the_one_of_the_user() {
  env -u HOME bash -euc '. "$0" && env' "$ROOT/scripts/lib/common.sh" | grep '^HOME=/'
}

# As after sudo scripts/up.
that_the_files_of_another_user_are_refused() {
  local tree=$LOCAL/others command as=()
  mkdir -p "$tree/.local"
  cp -r "$ROOT/scripts" "$tree/"
  chmod 755 "${LOCAL%/*}" "$LOCAL" && chmod -R go=rX "$tree" && chmod 500 "$tree/.local"
  ! is_root || as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  for command in up down 'kill redis' 'token admin' "backup $LOCAL/backup" "restore $tree"; do
    # shellcheck disable=SC2086 # a script and its arguments
    refuses_with 'run this as that user' "${as[@]}" "$tree/scripts/"$command
  done
}

that_services_of_an_interrupted_installation_do_not_start_at_boot() (
  systemctl() { echo "$*" >>"$LOCAL/asked"; }
  LOG_DIR=$LOCAL/wiped
  echo redis-server >"$INSTALLING"
  disable_interrupted && grep -q 'disable redis-server.service' "$LOCAL/asked" "$LOG_DIR/apt.log" && [[ ! -e $INSTALLING ]]
)

that_a_small_machine_is_refused() {
  refuses_with '2000 MB of memory and swap, and 2500 MB' require_memory 2000000 && require_memory 2500000 &&
    (use_ha && refuses_with '5000 MB' require_memory 4000000)
}

# It would get their tokens and passwords, and this machine no call.
that_no_call_to_this_machine_takes_a_proxy() {
  local file
  cd "$ROOT"
  while read -r file; do
    grep -q '^export no_proxy=127\.0\.0\.1,' "$file" || grep -nE 'curl -[a-zA-Z]' "$file" | none grep -vF -- "--noproxy '*'"
  done < <(grep -rlE 'curl -[a-zA-Z]' README.md docs scripts --exclude-dir=checks)
}

# With a line "fail" each answer but 200 would count as none.
that_no_call_follows_the_settings_of_the_users_curl() (
  # shellcheck source=/dev/null
  . "$ROOT/scripts/lib/demo.sh"
  export CURL_HOME=$LOCAL
  echo "stderr = \"$LOCAL/read\"" >"$LOCAL/.curlrc"
  curl -s file:///dev/null && [[ -e $LOCAL/read ]] && rm "$LOCAL/read"
  MANAGEMENT_PORT=1
  none service_answers 1 && none rabbitmq_api rabbitmq / && refuses_with 'was not answered' http GET http://127.0.0.1:1/ token && [[ ! -e $LOCAL/read ]]
)

that_no_installed_service_starts_at_the_next_boot() (
  LOG_DIR=$LOCAL
  has() { [[ $1 == systemctl ]]; }
  systemctl() { printf '%s\n' "${@:3}" >>"$LOCAL/disabled"; }
  mapfile -t packages < <(missing_packages && missing_ha_packages && missing_test_packages)
  disable_at_boot rabbitmq-server "${packages[@]}" # whose program is looked for by its path
  for service in redis-server rabbitmq-server mariadb haproxy prometheus prometheus-node-exporter; do
    grep -qx "$service.service" "$LOCAL/disabled" || exit 1
  done
)

that_an_installation_gives_back_another_policy() {
  printf '#!/bin/sh\nexit 0\n' >"$POLICY" && chmod 755 "$POLICY"
  forbid_service_starts && service_starts_forbidden && allow_service_starts && ! service_starts_forbidden
}

that_nothing_is_installed_while_services_may_start() (
  POLICY=$LOCAL/none/policy-rc.d INSTALLING=$LOCAL/installing
  missing_packages() { echo redis-server; }
  is_debian_12() { true; }
  is_root() { true; }
  apt_install() { touch "$LOCAL/installed"; }
  disable_at_boot() { true; }
  refuses_with 'would start' install_missing && [[ ! -e $LOCAL/installed ]]
)

that_an_installation_leaves_no_policy_where_none_was() {
  rm -f "$POLICY"
  forbid_service_starts && service_starts_forbidden && allow_service_starts && [[ ! -e $POLICY ]]
}

# Before anything else: the rest of each script has words of newer shells.
that_another_system_is_refused_in_one_sentence() {
  local script
  mkdir -p "$LOCAL/darwin"
  printf '#!/bin/sh\necho Darwin\n' >"$LOCAL/darwin/uname"
  chmod 755 "$LOCAL/darwin/uname"
  for script in up down kill promote backup restore token test bench; do
    PATH=$LOCAL/darwin:$PATH refuses_with "$script: Linux with bash 4.4 or newer is needed, and this is Darwin" "$ROOT/scripts/$script" || return
    [[ $(grep -vE '^(#|$)' "$ROOT/scripts/$script" | sed -n '1,2p') == $'set -euo pipefail\n. "$(dirname "$0")/lib/common.sh"' ]] || return
  done
}
