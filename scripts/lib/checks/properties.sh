# shellcheck shell=bash
# The properties that scripts/up refuses, keeps and passes on to the services.

# Later starts would have it, and fail before any service could refuse it.
that_no_property_is_kept_that_no_service_can_get() (
  local property
  eval "$(sed -nE '/^prepare\(\) \{/,/^}/p' "$ROOT/scripts/up")"
  require_memory() { :; }
  require_docker() { fail 'not refused'; }
  MODE=docker
  for property in 'deploy/redis/users.acl=1' 'logging.level.io.seckill$Inner=DEBUG' 'logging.level.=DEBUG' $'server.tomcat.threads.max\n=9'; do
    refuses_with 'there is no property' choose_properties "$property"
  done
  for property in $'seckill.pages.currency=USD\nfoo bar' $'seckill.pages.currency=USD\r' 'seckill.security.issuer="x' "seckill.security.issuer='x'" \
    'seckill.security.issuer=https://a$b' 'seckill.security.issuer=${HOME}' 'seckill.redis.ca-file=/a #b' 'seckill.fallback=off '; do
    refuses_with 'must be one line without $' choose_properties "$property"
  done
  echo 'seckill.security.issuer=https://a$b' >"$LOCAL/properties" # as a former scripts/up kept it
  refuses_with 'value of seckill.security.issuer must be one line' choose_properties seckill.fallback=off
  choose_properties seckill.security.issuer=
  [[ -z $PROPERTIES ]]
  for JAVA_FLAGS in '-Da=$b' '-Da=b #c' '"-Da=b"' $'-Da=b\n-Dc=d'; do
    refuses_with 'value of SECKILL_JAVA_FLAGS must be one line' prepare
  done
  choose_properties 'logging.level.io.seckill.order=DEBUG' 'seckill.security.issuer=https://an.issuer/?of="x"&more#1' \
    'seckill.redis.ca-file=/another.pem' 'seckill.redis.ca-file=/a b/ca.pem'
  while read -r property; do export "${property?}"; done < <(property_lines)
  [[ $SECKILL_SECURITY_ISSUER == 'https://an.issuer/?of="x"&more#1' && $(grep -c ca-file <<<"$PROPERTIES") == 1 && $SECKILL_REDIS_CAFILE == '/a b/ca.pem' ]]
)

that_properties_are_given_once() {
  choose_properties seckill.admission.durable-in=broker && remember_properties &&
    choose_properties seckill.fallback=manual && remember_properties &&
    [[ $(property_lines) == *SECKILL_ADMISSION_DURABLEIN=broker$'\n'SECKILL_FALLBACK=manual ]] &&
    (use_ha && [[ $(property_lines) != *replicas* ]]) &&
    choose_properties seckill.admission.durable-in=replicas && (use_ha && [[ $(property_lines) == *SECKILL_ADMISSION_REPLICAS=1* ]]) &&
    choose_properties seckill.admission.durable-in= seckill.fallback= && remember_properties &&
    [[ ! -e $LOCAL/properties && $(property_lines) != *ADMISSION* ]] &&
    (use_ha && [[ $(property_lines) == *SECKILL_ADMISSION_DURABLEIN=replicas* ]])
}

# The properties of before | those given | how the log of the service ends | those of later starts | what the call says. Two
# properties are parted by a space.
starts_that_fail() {
  cat <<'END'
|seckill.relay.max-unconfirmed=0|APPLICATION FAILED TO START\nunder 'seckill.relay' to RelaySettings:\n\n    Reason: E: seckill.relay.max-unconfirmed must be||refused: seckill.relay.max-unconfirmed=0 (E: seckill.relay.max-unconfirmed must be); later starts have the properties of before
seckill.fallback=manual|seckill.fallback=often|APPLICATION FAILED TO START\nunder 'seckill.fallback' to FallbackMode:|seckill.fallback=manual|refused: seckill.fallback=often; later
seckill.fallback=manual|seckill.fallback= seckill.wallet.currency=x|Application run failed\nseckill.wallet.currency must be|seckill.fallback=manual|refused: seckill.wallet.currency=x; later
seckill.intake.batch=9|seckill.payment.timeout=3h seckill.payment.provider=x|APPLICATION FAILED TO START\nunder 'seckill.payment' to P:\n    Reason: E: seckill.payment.provider must|seckill.intake.batch=9|refused: seckill.payment.provider=x (E
|seckill.limits.user-burst=9 seckill.limits.trusted-proxies=10.0.0.0/x|APPLICATION FAILED TO START\nunder 'seckill.limits' to R:\n    Reason: E: For input string||refused: seckill.limits.user-burst=9 seckill.limits.trusted-proxies=10.0.0.0/x (E
seckill.admission.durable-in=replicas|seckill.redis.socket-timeout=99ms|Application run failed\nseckill.redis.socket-timeout must be at least 170ms with seckill.admission.durable-in|seckill.admission.durable-in=replicas|seckill.redis.socket-timeout=99ms; later
seckill.intake.batch=0|seckill.fallback=manual|APPLICATION FAILED TO START\n    Reason: E: seckill.intake.batch must|seckill.intake.batch=0|scripts/up seckill.intake.batch= takes the default again
seckill.intake.batch=0 seckill.fallback=off||APPLICATION FAILED TO START\n    Reason: E: seckill.intake.batch must|seckill.intake.batch=0 seckill.fallback=off|scripts/up seckill.intake.batch= takes the default again
seckill.intake.batch=9|seckill.payment.timeout=3h|APPLICATION FAILED TO START\nPort 18082 was already in use|seckill.intake.batch=9 seckill.payment.timeout=3h|later starts have these properties, too: seckill.intake.batch=9 seckill.payment.timeout=3h; scripts/down, then scripts/up NAME=
|seckill.demo.exposed=true|APPLICATION FAILED TO START\nPort 18082 was already in use|seckill.demo.exposed=true|later starts have these properties, too: seckill.demo.exposed=true
|seckill.demo.exposed=true|seckill.demo.exposed is on\nKilled|seckill.demo.exposed=true|later starts have these properties, too: seckill.demo.exposed=true
END
}

that_no_start_keeps_a_property_that_a_service_refuses() (
  COMPOSE=(composes) JAVA=$LOCAL/java APP_DIR=$LOCAL/app CONTAINER_ETC=$LOCAL/containers ONLY_SERVERS=no
  printf '#!/bin/sh\ncat "%s"\nexit 1\n' "$LOCAL/ends" >"$JAVA"
  chmod 755 "$JAVA"
  jar_of() { echo "$JAVA"; }
  service_answers() { false; }
  write_container_files() { true; }
  begin_volumes() { true; }
  grant_container_users() { true; }
  await_container() { [[ $1 != relay-service ]] || fail 'relay-service did not become ready in time'; }
  composes() {
    echo "$*" >>"$LOCAL/asked"
    [[ $1 != logs || $* != *relay-service* ]] || sed 's/^/relay-service-1  | /' "$LOCAL/ends"
    [[ $1 != logs || $* != *gateway-service* ]] || echo 'gateway-service-1  | seckill.demo.exposed is on'
  }
  choose_ports
  trap 'stop_processes 10 order-consumer' EXIT
  # Not as the loop's input, which the processes would read.
  mapfile -t rows < <(starts_that_fail)
  for row in "${rows[@]}"; do fails_as log_of_a_service "$row"; done
  # Of the ways there: a property of this call, and none. In containers another service names one.
  for row in "${rows[0]}" "${rows[-2]}"; do
    fails_as relay_process "$row"
    fails_as start_containers "$row"
  done
)

# More than a pipe holds, before a failure that another service may have had, too.
that_a_long_log_hides_no_other_service() {
  local said
  COMPOSE=(composes)
  composes() {
    [[ $* != *order-consumer* ]] || seq 100000
    echo "Application run failed: ${*: -1}"
  }
  mapfile -t said < <(service_logs)
  [[ ${said[0]} == *migration && ${said[1]} == *order-consumer && ${said[2]} == *relay-service && ${said[3]} == *gateway-service ]]
}

# The services of a call that changes nothing are stopped, no others.
fails_as() { # COMMAND ROW
  local before given log after said stopped=no
  IFS='|' read -r before given log after said <<<"$2"
  echo "$*"
  printf '%b\n' "$log" >"$LOCAL/ends"
  rm -f "$LOCAL/asked"
  is_running order-consumer || start_process order-consumer sleep 600
  PROPERTIES=${before// /$'\n'}
  remember_properties
  # shellcheck disable=SC2086 # properties are words
  choose_properties $given
  remember_properties
  refuses_with "$said" "$1"
  [[ $(paste -sd ' ' "$LOCAL/properties" 2>/dev/null) == "$after" ]]
  if ! is_running order-consumer || grep -qx 'stop gateway-service relay-service order-consumer' "$LOCAL/asked"; then stopped=yes; fi
  if [[ $given && $after == "$before" ]]; then [[ $stopped == yes ]]; else [[ $stopped == no ]]; fi
}

log_of_a_service() {
  end_failed_start stop_all_services <"$LOCAL/ends"
}

stop_all_services() {
  echo 'stop gateway-service relay-service order-consumer' >>"$LOCAL/asked"
}

relay_process() {
  start_service relay-service
  await_service relay-service RELAY
}

# As the runbook of a restore does. A service that runs would keep the former ones.
that_properties_may_change_while_only_servers_run() (
  RUN_DIR=$LOCAL/run
  eval "$(sed -nE '/^(refuse_other_mode|anything_runs|services_run|processes_run)\(\) \{/,/^}/p' "$ROOT/scripts/up")"
  choose_properties seckill.payment.timeout=3h
  docker() { [[ $* == *service=* && $* != *service="$RUNS" ]] || echo container; }
  is_running() { [[ $1 == "$RUNS" ]]; }
  for MODE in processes docker; do
    echo "$MODE single" >"$LOCAL/mode"
    for RUNS in redis gateway-service relay-service order-consumer; do
      mkdir -p "$RUN_DIR" && touch "$RUN_DIR/$RUNS.pid"
      if [[ $RUNS == redis ]]; then refuse_other_mode; else refuses_with 'run scripts/down' refuse_other_mode; fi
      (FORM=ha && refuses_with 'run scripts/down' refuse_other_mode)
    done
  done
)

# Every documented property that is not refused, in both forms and in containers.
that_given_properties_win() {
  local name given=(logging.level.io.seckill.order=given)
  for name in $(grep -oE '`(seckill|server|spring)\.[a-z0-9.-]+`' "$ROOT/docs/configuration.md" | tr -d '\`' | sort -u); do
    [[ $name =~ ^($OWN_PROPERTIES)$ ]] || given+=("$name=given")
  done
  ((${#given[@]} > 40))
  choose_properties "${given[@]}"
  property_lines | grep '=given$' >"$LOCAL/given"
  every_service_has_them
  JARS=none IMAGES='' ETC_DIR=$LOCAL CONTAINER_ETC=$LOCAL write_container_files
  none grep -vxFf "$LOCAL/compose.env" "$LOCAL/given"
  # Compose takes a value of its own file before one of properties.env.
  sed -E 's/(.*)=given/^ *\1: .*$/' "$LOCAL/given" >"$LOCAL/fixed"
  grep -Ef "$LOCAL/fixed" "$ROOT/deploy/compose.yaml" | none grep -vE ' ([A-Z_]+): "?\$\{\1:-'
  use_ha
  every_service_has_them
}

# Kept, because another scripts/up starts what was killed; a variable of the caller would be lost then.
that_order_consumer_gets_the_jars_of_a_payment_provider() (
  JARS=none IMAGES='' ETC_DIR=$LOCAL CONTAINER_ETC=$LOCAL/containers
  choose_ports
  mkdir "$LOCAL/jars" "$LOCAL/a:b" "$LOCAL/a,b"
  cd "$LOCAL"
  for directory in jars "$LOCAL/missing" "$LOCAL/a:b" "$LOCAL/a,b"; do
    refuses_with 'loader.path must be' choose_properties "loader.path=$directory"
  done
  choose_properties "loader.path=$LOCAL/jars" && remember_properties
  choose_properties
  (common_environment order-consumer && env | grep -x "LOADER_PATH=$LOCAL/jars")
  write_container_files
  [[ $(sed -n 's/^LOADER_PATH=//p' "$CONTAINER_ETC/compose.env") == "$LOCAL/jars" ]]
  choose_properties loader.path=
  write_container_files
  directory=$(sed -n 's/^LOADER_PATH=//p' "$CONTAINER_ETC/compose.env")
  [[ -z $(ls -A "$directory") && $(stat -c %a "$directory") == 755 ]]
)

every_service_has_them() { # one of each kind
  local service
  choose_ports
  for service in "${GATEWAYS%% *}" "${RELAYS%% *}" "${CONSUMERS%% *}"; do
    (common_environment "$service" && env) >"$LOCAL/environment"
    none grep -vxFf "$LOCAL/environment" "$LOCAL/given"
  done
}
