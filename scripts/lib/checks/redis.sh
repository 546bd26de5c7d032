# shellcheck shell=bash
# Redis, its users, its cluster and its Sentinels.

that_every_placeholder_is_filled_in() {
  ! { redis_users 8 && acl_of sentinel.acl 8 && redis_ha && redis_cluster && sentinel_start 127.0.0.1 1 && rabbitmq_definitions && mysql_users; } | grep '@[A-Z]*@'
}

that_redis_users_stand_on_one_line_each() {
  [[ $(redis_users 8 | grep -c '^user ') == 7 && $(redis_users 8 | wc -l) == 7 ]]
}

that_older_redis_gets_no_rule_it_does_not_know() {
  [[ $(redis_users 8.0.6) == *+client\|setinfo* && $(redis_users 7.2.0) == *+client\|setinfo* && $(redis_users 7.0.15) != *+client\|setinfo* ]]
}

that_users_that_a_server_has_refused_are_loaded_again() (
  ETC_DIR=$LOCAL/etc
  is_running() { true; }
  as_admin() { echo "$1$ANSWER" >>"$LOCAL/asked" && echo "$ANSWER"; }
  ANSWER='' && refuses_with 'redis-1 does not accept its users' renew_users users.acl as_admin redis-1 redis-2 || exit
  ANSWER=OK && renew_users users.acl as_admin redis-1 redis-2
  renew_users users.acl as_admin redis-1 redis-2
  [[ $(paste -sd ' ' "$LOCAL/asked") == 'redis-1 redis-1OK redis-2OK' ]]
)

# Through the shipped configuration and users, as scripts/up starts it.
that_a_redis_restart_keeps_what_a_script_wrote() {
  # Two writes, which the append-only file stores as a transaction.
  local key='seckill:{1}:skus' script='redis.call("SADD", KEYS[1], 1001) return redis.call("SADD", KEYS[1], 1002)'
  local name
  for name in $SECRETS; do printf -v "$name" %s "$name-for-a-check"; done
  DATA_DIR=$LOCAL/data ETC_DIR=$LOCAL/etc
  run_redis
  redis_as_admin redis eval "$script" 1 "$key"
  stop_processes 10 redis
  run_redis
  [[ $(redis_as_admin redis sismember "$key" 1002) == 1 && $(redis-cli -p "$REDIS_PORT" ping) == NOAUTH* ]]
}

run_redis() { # until the check ends
  trap 'stop_processes 10 redis' EXIT
  REDIS_PORT=$(free_port)
  renew_redis_users
  start_redis redis
  wait_ready redis Redis 60 redis_answers redis
}

# users.acl says why services may read each setting. Once Redis takes these rules, they belong there.
that_redis_cannot_allow_single_settings_of_config_get() {
  DATA_DIR=$LOCAL/settings ETC_DIR=$LOCAL/etc
  run_redis
  [[ $(redis_as_admin redis acl setuser trial '+config|get|maxmemory' 2>&1) == *'first-arg of a subcommand is not supported'* ]]
  redis_as_admin redis acl setuser trial on '>trial' resetkeys '(+config|get %R~maxmemory)'
  redis_as_admin redis config set masterauth kept-secret
  [[ $(REDISCLI_AUTH=trial redis-cli -p "$REDIS_PORT" --user trial config get masterauth) == *kept-secret ]]
}

that_redis_users_may_call_what_their_scripts_call() {
  commands_allowed gateway gateway-service relay-lanes common && commands_allowed relay relay-lanes && commands_allowed consumer order-consumer common
}

commands_allowed() { # USER MODULE…: rules apply inside scripts, too
  local rules command user=$1
  shift
  rules=" $(redis_users 8 | grep "^user $user ") "
  for command in $(cd "$ROOT" && find "${@/%//src/main}" -name '*.lua' -exec cat {} + | commands_named); do
    [[ $rules == *" +$command "* ]] || { echo "$user may not call $command"; return 1; }
  done
}

# The first argument of redis.call and redis.pcall.
commands_named() {
  grep -oE "\bp?call\(['\"][A-Za-z]+" | sed "s/.*['\"]//" | tr '[:upper:]' '[:lower:]' | sort -u
}

# A Redis Cluster with the shipped configuration and users: replicas log in, the other primaries vote, the killed node
# returns as a replica.
in_the_proof_that_a_redis_cluster_replaces_a_killed_primary() {
  local number base nodes='redis-1 redis-2 redis-3 redis-4 redis-5 redis-6'
  base=$(free_port)
  for number in 1 2 3 4 5 6; do printf -v "REDIS_${number}_PORT" %s $((base + number)); done
  DATA_DIR=$LOCAL/cluster ETC_DIR=$LOCAL/etc REDIS_NODES=$nodes
  # shellcheck disable=SC2064 # these nodes
  trap "stop_processes 10 $nodes" EXIT
  loses_its_third_primary
}

# The hash tag {0} is in the last third. With one replica each, min-replicas-to-write 1 refuses writes until the node is back.
loses_its_third_primary() {
  local node addresses
  renew_redis_users
  redis_cluster | write_file "$ETC_DIR/redis-cluster.conf"
  # shellcheck disable=SC2086 # names are words
  addresses=$(addresses_of REDIS $REDIS_NODES)
  for node in $REDIS_NODES; do start_cluster_node "$node"; done
  for node in $REDIS_NODES; do wait_ready "$node" "$node" 20 redis_answers "$node"; done
  # shellcheck disable=SC2086 # addresses are words
  redis_as_admin redis-1 --cluster create ${addresses//,/ } --cluster-replicas 1 --cluster-yes
  for node in $REDIS_NODES; do wait_ready "$node" "$node in the cluster" 60 cluster_answers "$node"; done
  [[ $(redis_as_admin redis-1 -c set '{0}' kept) == OK ]] && redis_as_admin redis-3 wait 1 5000 &&
    kill -KILL "$(pid_of redis-3)" && wait_ready redis-1 'the promoted replica' 20 has_kept_it &&
    ! redis_as_admin redis-1 -c set '{0}' changed | grep -q OK &&
    start_cluster_node redis-3 && wait_ready redis-3 'the former primary' 20 cluster_answers redis-3 &&
    redis_as_admin redis-3 role | grep -qx slave
}

redis_cluster() {
  render "$ROOT/deploy/redis/cluster.conf" "REPLICA=$REDIS_REPLICA_PASSWORD" WAIT=1
}

start_cluster_node() { # NODE
  mkdir -p "$DATA_DIR/$1"
  start_process "$1" redis-server "$ROOT/deploy/redis/redis.conf" --include "$ETC_DIR/redis-cluster.conf" --daemonize no \
    --port "$(port_of REDIS "$1")" --cluster-port $(($(port_of REDIS "$1") + 10)) --dir "$DATA_DIR/$1" --aclfile "$ETC_DIR/users.acl"
}

# Every slot is served, and this node copies or is copied.
cluster_answers() { # NODE
  [[ $(redis_as_admin "$1" cluster info) == *cluster_state:ok*cluster_slots_ok:16384* ]] &&
    redis_as_admin "$1" info replication | grep -qE '^(master_link_status:up|connected_slaves:[1-9])'
}

has_kept_it() {
  [[ $(redis_as_admin redis-1 -c get '{0}') == kept ]]
}

that_an_emptied_redis_never_starts_as_a_primary_of_those_that_have_data() (
  DATA_DIR=$LOCAL/data REDIS_NODES='redis-1 redis-2 redis-3' SENTINELS='sentinel-1 sentinel-2'
  port_of() { echo "700${2#redis-}"; }
  mkdir -p "$DATA_DIR"/redis-{1,2,3} "$DATA_DIR/sentinel-1"
  [[ -z $(redis_role redis-1) && $(redis_role redis-2) == 'replicaof 127.0.0.1 7001' ]] || exit 1
  touch "$DATA_DIR"/redis-{2,3}/redis.conf
  [[ $(redis_role redis-1) == 'replicaof 127.0.0.1 7002' ]] || exit 1
  echo 'sentinel monitor seckill 127.0.0.1 7003 2' >"$DATA_DIR/sentinel-1/sentinel.conf"
  [[ $(redis_role redis-1) == 'replicaof 127.0.0.1 7003' ]] || exit 1
  REDIS_NODES=redis
  [[ -z $(redis_role redis) ]]
)

# Through the shipped configuration and users.
in_the_proof_that_sentinels_let_in_nobody_but_their_users() {
  local node base
  use_ha
  base=$(free_port)
  for node in 1 2 3; do printf -v "SENTINEL_${node}_PORT" %s $((base + node)); done
  printf -v REDIS_1_PORT %s "$base"
  REDIS_NODES=redis-1 DATA_DIR=$LOCAL/sentinels ETC_DIR=$LOCAL/etc
  for name in $SECRETS; do printf -v "$name" %s "$name-for-a-check"; done
  # shellcheck disable=SC2064 # these nodes
  trap "stop_processes 10 $SENTINELS redis-1" EXIT
  sentinels_let_in_their_users
}

sentinels_let_in_their_users() {
  local node
  renew_redis_users
  start_redis redis-1 && wait_ready redis-1 Redis 10 redis_answers redis-1
  for node in $SENTINELS; do mkdir -p "$DATA_DIR/$node" && start_sentinel "$node"; done
  wait_ready sentinel-1 'the quorum' 30 sentinels_agree
  [[ $(redis-cli -p "$SENTINEL_1_PORT" sentinel masters 2>&1) == NOAUTH* ]] &&
    [[ $(sentinel_as gateway "$REDIS_GATEWAY_PASSWORD" sentinel get-master-addr-by-name seckill) == *"$REDIS_1_PORT" ]] &&
    [[ $(sentinel_as gateway "$REDIS_GATEWAY_PASSWORD" sentinel failover seckill 2>&1) == NOPERM* ]] &&
    [[ $(sentinel_as sentinel "$REDIS_SENTINEL_PASSWORD" sentinel masters 2>&1) == NOPERM* ]] && sentinels_have_other_passwords &&
    REDIS_GATEWAY_PASSWORD=newest && renew_redis_users && [[ $(sentinel_as gateway newest ping) == PONG ]] &&
    # Only Sentinels that may ask each other call a primary dead.
    kill -KILL "$(pid_of redis-1)" && wait_ready sentinel-2 'the agreement that it is dead' 30 is_called_dead
}

# As after the documented rotation of a secret.
sentinels_have_other_passwords() {
  local node
  # shellcheck disable=SC2086 # names are words
  stop_processes 10 $SENTINELS redis-1
  REDIS_SENTINEL_PASSWORD=another REDIS_ADMIN_PASSWORD=another-admin
  renew_redis_users
  start_redis redis-1 && wait_ready redis-1 Redis 10 redis_answers redis-1
  for node in $SENTINELS; do start_sentinel "$node"; done
  wait_ready sentinel-1 'the quorum' 30 sentinels_agree
}

sentinel_as() { # USER PASSWORD COMMAND…
  REDISCLI_AUTH=$2 redis-cli -p "$SENTINEL_1_PORT" --user "$1" "${@:3}"
}

sentinels_agree() {
  [[ $(sentinel_as_admin sentinel-1 sentinel ckquorum seckill) == 'OK 3 '* ]]
}

is_called_dead() {
  sentinel_as_admin sentinel-2 sentinel master seckill | grep -q o_down
}
