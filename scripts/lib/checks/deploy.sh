# shellcheck shell=bash
# What the files of deploy and the commands of the docs say.

that_compose_asks_only_for_settings_it_gets() {
  local name compose=$ROOT/deploy/compose.yaml PROPERTIES='' IMAGES='' JARS=none
  choose_ports
  ETC_DIR=$LOCAL CONTAINER_ETC=$LOCAL write_container_files
  for name in $(grep -o '\${[A-Z0-9_]*[}:]' "$compose" | tr -d '${}:' | sort -u); do
    grep -q "^$name=." "$LOCAL/compose.env" || grep -q "\${$name:-" "$compose" || { echo "$name is not set"; return 1; }
  done
  while read -r name; do
    [[ -e $LOCAL/$name ]] || { echo "$name is not written"; return 1; }
    [[ -z $(find "$LOCAL/$name" ! -perm -o=r -print -o -type d ! -perm -o=x -print) ]] ||
      { echo "$name is closed to the servers' users"; return 1; }
  done < <(sed -n 's/.*\${CONTAINER_ETC[^}]*}\/\([a-z./-]*\):.*/\1/p' "$compose")
}

# Its modes in the clone depend on the umask of whoever has cloned.
that_no_container_reads_a_file_of_the_clone() {
  ! grep -n -- '- \.\.*/' "$ROOT"/deploy/compose.yaml
}

that_no_container_has_a_secret_in_its_environment() {
  ! grep -nE '(PASSWORD|SECRET|TOKEN|COOKIE|_AUTH): *[^ /$]|\$\{[A-Z0-9_]*(PASSWORD|SECRET|TOKEN|COOKIE)' "$ROOT/deploy/compose.yaml" | grep -v '_FILE: /run/secrets/' &&
    choose_ports && choose_properties && JARS=none IMAGES='' ETC_DIR=$LOCAL CONTAINER_ETC=$LOCAL write_container_files && ! grep -q 5ec2e7 "$LOCAL/compose.env"
}

# Every server, too: nothing of its image needs more than to give its data to its user and to become that user.
that_every_container_is_confined() {
  awk '
    /^x-|^  [a-z-]+:$/ { name = $1 } /^services:/ { inside = 1 } /^volumes:/ { inside = 0 }
    /cap_drop: \[ALL\]/ { dropped[name] = 1 } /no-new-privileges:true/ { kept[name] = 1 }
    /^    <<: \*(server|service)$/ { of[name] = "x-" substr($2, 2) ":" }
    inside && /^  [a-z-]+:$/ { all[name] }
    END { for (name in all) if (!(name in dropped && name in kept) && !(of[name] in dropped && of[name] in kept)) { print name; bad = 1 } exit bad }
  ' "$ROOT/deploy/compose.yaml"
}

# A volume that only the image declares has no name, and each scripts/down would leave one behind.
that_every_store_in_a_container_keeps_its_data() {
  awk '
    /^  [a-z-]+:$/ { name = $1 } /^volumes:/ { volumes = 1 } volumes && /^  [a-z]+:$/ { named[$1] }
    match($0, /^      - [a-z]+:\//) { used[name] = $2 }
    END {
      split("redis: rabbitmq: mysql: prometheus:", stores, " ")
      for (i in stores) if (!(stores[i] in named) || index(used[stores[i]], stores[i]) != 1) { print stores[i]; bad = 1 }
      exit bad
    }
  ' "$ROOT/deploy/compose.yaml"
}

# Not the migration, which ends.
that_every_container_but_the_migration_starts_again() {
  awk '
    /^x-|^  [a-z-]+:$/ { name = $1 } /^services:/ { inside = 1 } /^volumes:/ { inside = 0 }
    /^ +restart: / { policy[name] = $2 } /^    <<: \*(server|service)$/ { of[name] = "x-" substr($2, 2) ":" }
    inside && /^  [a-z-]+:$/ { all[name] }
    END {
      for (name in all) {
        found = name in policy ? policy[name] : policy[of[name]]
        if (found != (name == "migration:" ? "\"no\"" : "unless-stopped")) { print name, found; bad = 1 }
      }
      exit bad
    }
  ' "$ROOT/deploy/compose.yaml"
}

# Each phase of a service's stop has a bound of its own; seckill.shutdown.delay comes before them.
that_a_stop_may_take_as_long_as_its_parts() {
  local phase grace delay stop
  phase=$(sed -nE 's/^ *timeout-per-shutdown-phase: ([0-9]+)s$/\1/p' "$ROOT"/*/src/main/resources/application.yml | sort -n | tail -n 1)
  grace=$(sed -nE '/^x-service:/,/^$/ s/^ *stop_grace_period: ([0-9]+)s$/\1/p' "$ROOT/deploy/compose.yaml")
  delay=$(sed -nE 's/.*isWithin\(delay, Duration\.ZERO, Duration\.ofSeconds\(([0-9]+)\)\),/\1/p' "$ROOT"/service-support/src/main/java/io/seckill/support/web/ShutdownDelay.java)
  stop=$(sed -nE 's/.*Allow a process the delay and ([0-9]+) s .*/\1/p' "$ROOT/docs/configuration.md")
  ((phase < stop && delay > 0 && delay + stop <= grace && delay + stop <= SERVICE_STOP_SECONDS)) && ! grep -nE 'stop_(parts|processes) [0-9]+ "?(gateway|relay|\$1)' "$ROOT"/scripts/{down,lib/services.sh}
}

# The set-up of the official image calls this client as root without a password, and fails when the environment has one.
that_no_container_has_variables_of_the_mysql_client() {
  ! grep -nE '^ *MYSQL_(PWD|HOST|TCP_PORT|UNIX_PORT|GROUP_SUFFIX):' "$ROOT"/deploy/compose.yaml
}

# A part of a name may be that of another program's container, or of another clone's volume.
that_no_document_picks_what_docker_has_by_a_part_of_its_name() {
  ! grep -rnE -- '--filter name=|docker[a-z -]* (ps|ls|images)\b[^`]*\| *(grep|awk|sed)' "$ROOT"/{README,CONTRIBUTING}.md "$ROOT/docs"
}

# Every user of the machine can read them. change_password asks.
that_no_document_has_a_secret_in_an_argument() {
  ! grep -rnE -e '--from-literal=[^ =]*(password|token|secret)' -e '(change_password|add_user) [a-z]+ +[^ `|]' -e 'hash_password +[^ `|]' \
    -e 'redis-cli [^`]*( -a |--pass |SETUSER|setuser|AUTH )' -e '(mysql|mariadb)[^`]* (-p[^ ]|--password=|-e [^`]*IDENTIFIED)' \
    -e "-H [\"']Authorization" "$ROOT"/{README,CONTRIBUTING}.md "$ROOT"/{docs,deploy}
}

# rollout status does not wait for the end of former pods, which consume and publish for seckill.shutdown.delay.
that_no_pod_of_a_former_release_runs_beside_the_next_step() (
  grep -rnE 'rollout (status|undo)|kubectl apply .*-f -' "$ROOT/docs" | none grep -vw replaced
  eval "$(grep '^replaced() ' "$ROOT/docs/operations.md")"
  STATES=('relay-1 Terminating' '' 'relay-1 Terminating' 'relay-2 Running')
  kubectl() { [[ $* != *' get '* ]] || { [[ $(state) ]] && state; }; }
  state() { echo "${STATES[$(wc -l <"$LOCAL/asked")]}"; }
  sleep() { echo "$*" >>"$LOCAL/asked"; }
  touch "$LOCAL/asked"
  replaced relay-service && [[ $(wc -l <"$LOCAL/asked") == 3 ]]
  kubectl() { [[ $* != *' status '* ]]; }
  none replaced relay-service
)

# It makes dead letters of messages of several orders, which it cannot read.
that_a_former_release_finds_no_message_of_a_newer_one() {
  grep '\*\*Not tolerated\*\*' "$ROOT/docs/operations.md" | grep -q 'adr/0029-'
  grep -A 1 '^undo .*relay-service .*until queues are empty' "$ROOT/docs/runbooks.md" | grep -qx 'undo order-consumer'
}

# RabbitMQ imports its definitions at every start, over what was changed meanwhile. Redis reads its file.
that_a_rotated_secret_outlives_a_restart() {
  grep 'change_password' "$ROOT/docs/runbooks.md" | grep -q 'hash_password.*definitions\.json.*change_password'
  grep 'CONFIG SET masterauth' "$ROOT/docs/runbooks.md" | grep -q 'every node and into its file (`ha\.conf`, `cluster\.conf`)'
}

that_images_have_a_version() {
  local image
  while read -r image; do
    [[ $image =~ :v?[0-9]+\.[0-9]+ ]] || { echo "$image has no minor version"; return 1; }
    # rabbitmq-server #17317
    [[ ! $image =~ rabbitmq:4\.3(\.[0-5])?([^0-9.].*)?$ ]] || { echo "$image may stop a queue for good"; return 1; }
  done < <(cd "$ROOT/deploy" && {
    grep -rhoE '\b(image|BUILD|JAVA): *\$?[^ ]+' compose.yaml kubernetes | sed -E 's/^[a-zA-Z]+: *//; s/.*:-(.*)}/\1/' | grep :
    sed -n 's/^ARG .*=\(.*:.*\)/\1/p' Dockerfile
  })
}

that_promtool_sees_alerts_fire_beyond_their_bounds_only() {
  cd "$ROOT/deploy/observability" && promtool test rules ./*.test.yml
}

# Its restart ends every connection, so that it is left to the operator. A former release has started it without a copy.
that_a_changed_configuration_of_the_balancer_is_said() (
  use_ha
  choose_ports
  ROOT=$LOCAL/clone APP_DIR=$LOCAL/app
  mkdir -p "$ROOT/deploy/haproxy" "$LOCAL/runs"
  is_running() { [[ -e $LOCAL/runs/$1 ]]; }
  start_process() { cp "${@: -1}" "$LOCAL/runs/$1"; }
  wait_ready() { :; }
  echo old >"$ROOT/deploy/haproxy/haproxy.cfg"
  start_haproxy
  [[ -z $(start_haproxy) ]]
  echo new >"$ROOT/deploy/haproxy/haproxy.cfg"
  [[ $(start_haproxy) == *'scripts/kill haproxy && scripts/up --ha'* && $(<"$LOCAL/runs/haproxy") == old ]]
  rm "$LOCAL/runs/haproxy"
  start_haproxy
  [[ -z $(start_haproxy) && $(<"$LOCAL/runs/haproxy") == new ]]
  rm "$APP_DIR/haproxy.cfg"
  [[ $(start_haproxy) == *'the configuration of before'* ]]
)
