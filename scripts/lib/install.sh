# shellcheck shell=bash
# Installs missing Debian packages without starting their services, now or at the next boot.

POLICY=/usr/sbin/policy-rc.d
POLICY_SAVED=$POLICY.saved-by-seckill
INSTALLING=$LOCAL/installing

missing_packages() { # prints the packages of the missing commands
  has redis-server || echo redis-server
  has redis-cli || echo redis-tools
  [[ -x /usr/lib/rabbitmq/bin/rabbitmq-server ]] || echo rabbitmq-server
  has epmd || echo erlang-base
  has mariadbd || echo mariadb-server
  has mariadb || echo mariadb-client
  has curl || echo curl
  has openssl || echo openssl
}

missing_ha_packages() {
  has haproxy || echo haproxy
}

missing_test_packages() { # needed only by tests: the browser for the pages, Prometheus and a node exporter for the alert rules, kubectl to render manifests
  has chromium || echo chromium
  has chromedriver || echo chromium-driver
  has promtool || echo prometheus
  has prometheus-node-exporter || echo prometheus-node-exporter
  has kubectl || echo kubernetes-client
  has shellcheck || echo shellcheck # for the scripts
}

install_missing() { # [COMMAND…]: as root, on Debian; each further command prints packages, too
  local packages command
  disable_interrupted
  mapfile -t packages < <(for command in missing_packages "$@"; do "$command"; done)
  ((${#packages[@]} > 0)) || return 0
  is_debian_12 || fail "not installed here: ${packages[*]} (Debian's names); install them, or use scripts/up --docker"
  is_root || fail "not installed here: ${packages[*]}; run this as root, or install them with apt-get"
  say "installing ${packages[*]} (log: $LOG_DIR/apt.log)"
  mkdir -p "$LOG_DIR"
  printf '%s\n' "${packages[@]}" | write_file "$INSTALLING"
  (
    trap allow_service_starts EXIT
    forbid_service_starts || fail "$POLICY cannot be written, and what is installed would start"
    apt_install "${packages[@]}"
  ) || fail "apt-get could not install ${packages[*]}; see $LOG_DIR/apt.log"
  disable_interrupted
}

# Also after an installation that was interrupted: its services are enabled already.
disable_interrupted() {
  local packages
  [[ -e $INSTALLING ]] || return 0
  mapfile -t packages <"$INSTALLING"
  disable_at_boot "${packages[@]}"
  rm "$INSTALLING"
}

apt_install() { # PACKAGE…: never removes another package, and waits for another apt, as at the first boot
  {
    lists_updated &&
      DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends --no-remove \
        -o DPkg::Lock::Timeout=300 install "$@"
  } >"$LOG_DIR/apt.log" 2>&1 </dev/null
}

# apt-get update does not wait for the lock of the lists.
lists_updated() {
  local deadline=$((SECONDS + 300)) said
  until said=$(apt-get -q update 2>&1); do
    if [[ $said != *'Could not get lock'* ]] || ((SECONDS >= deadline)); then
      echo "$said"
      return 1
    fi
    sleep 3
  done
}

# Packages run policy-rc.d before they start a service; exit code 101 forbids it. An existing one that
# forbids it is kept, any other one is moved aside during the installation.
forbid_service_starts() {
  allow_service_starts # removes the file of a killed run
  if [[ -e $POLICY || -L $POLICY ]]; then
    ! service_starts_forbidden || return 0
    mv "$POLICY" "$POLICY_SAVED" || return
  fi
  printf '#!/bin/sh\n# placed by %s for the time of an installation\nexit 101\n' "$ROOT/scripts" >"$POLICY" &&
    chmod 755 "$POLICY"
}

service_starts_forbidden() {
  local status=0
  "$POLICY" redis-server start >/dev/null 2>&1 </dev/null || status=$?
  ((status == 101))
}

allow_service_starts() {
  if grep -qs '^# placed by .* for the time of an installation$' "$POLICY"; then rm -f "$POLICY"; fi
  if [[ -e $POLICY_SAVED && ! -e $POLICY ]]; then mv "$POLICY_SAVED" "$POLICY"; fi
}

# A package enables its service for the next boot even when it may not start it now.
disable_at_boot() { # PACKAGE… that were not there before
  local package
  has systemctl || return 0
  mkdir -p "$LOG_DIR" # scripts/down --wipe has removed it
  for package in "$@"; do
    case $package in
      redis-server) systemctl --quiet disable redis-server.service ;;
      rabbitmq-server) systemctl --quiet disable rabbitmq-server.service epmd.socket epmd.service ;;
      mariadb-server) systemctl --quiet disable mariadb.service mariadb.socket ;;
      haproxy) systemctl --quiet disable haproxy.service ;;
      prometheus) systemctl --quiet disable prometheus.service ;;
      prometheus-node-exporter) systemctl --quiet disable prometheus-node-exporter.service ;;
    esac >>"$LOG_DIR/apt.log" 2>&1 || true
  done
}
