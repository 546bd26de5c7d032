# shellcheck shell=bash
# Processes that a run of tests leaves behind have its mark in their environment, like every program
# started after the mark was set. This shell was started before.

mark_descendants() {
  SECKILL_TEST_RUN=$$-$(date +%s%N)
  export SECKILL_TEST_RUN
}

leftovers() { # prints their pids
  local environ
  for environ in /proc/[0-9]*/environ; do
    if grep -qsz "^SECKILL_TEST_RUN=$SECKILL_TEST_RUN\$" "$environ"; then printf '%s\n' "${environ//[!0-9]/}"; fi
  done
}

end_leftovers() { # terminates them, and kills them after ten seconds
  local pids deadline=$((SECONDS + 10)) signal=TERM
  mapfile -t pids < <(leftovers)
  ((${#pids[@]} > 0)) || return 0
  echo "$PROGRAM: ending processes that the tests left running:" >&2
  describe "${pids[@]}" >&2
  while ((${#pids[@]} > 0)); do
    ((SECONDS < deadline)) || signal=KILL
    kill "-$signal" "${pids[@]}" 2>/dev/null || true
    sleep 0.5
    mapfile -t pids < <(leftovers)
  done
}

describe() { # PID…
  local pid
  for pid in "$@"; do
    printf '  %s %s\n' "$pid" "$(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline" | cut -c 1-120)"
  done
}
