# shellcheck shell=bash
# Processes without a pid file are found by a mark in their environment, NAME=VALUE, which they give to every program they
# start. A shell that sets the mark was started before.

mark_descendants() { # of a run of tests
  SECKILL_TEST_RUN=$$-$(date +%s%N)
  export SECKILL_TEST_RUN
}

marked() { # NAME=VALUE: prints their pids
  local environ
  for environ in /proc/[0-9]*/environ; do
    if grep -qsxzF "$1" "$environ"; then printf '%s\n' "${environ//[!0-9]/}"; fi
  done
}

# A signal to a shell alone is handled after the command in its foreground has ended, but while it waits at once.
interruptible() { # COMMAND…
  "$@" </dev/null &
  wait $!
}

# A watchdog outlives its program, whose servers it ends, for a moment.
end_leftovers() { # of a run of tests
  local deadline=$((SECONDS + 3))
  while ((SECONDS < deadline)) && [[ $(marked "SECKILL_TEST_RUN=$SECKILL_TEST_RUN") ]]; do sleep 0.2; done
  end_marked "SECKILL_TEST_RUN=$SECKILL_TEST_RUN"
}

end_marked() { # NAME=VALUE: terminates them, and kills them after ten seconds
  local pids deadline=$((SECONDS + 10)) signal=TERM
  mapfile -t pids < <(marked "$1")
  ((${#pids[@]} > 0)) || return 0
  echo "$PROGRAM: ending processes that were left running:" >&2
  describe "${pids[@]}" >&2
  while ((${#pids[@]} > 0)); do
    ((SECONDS < deadline)) || signal=KILL
    kill "-$signal" "${pids[@]}" 2>/dev/null || true
    sleep 0.5
    mapfile -t pids < <(marked "$1")
  done
}

describe() { # PID…
  local pid
  for pid in "$@"; do
    printf '  %s %s\n' "$pid" "$(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline" | cut -c 1-120)"
  done
}
