# shellcheck shell=bash
# Background processes, each identified by a pid file: its pid, then its start in ticks since boot and
# the id of the boot, which distinguish it from a later process with the same pid.

birth_of() { # PID: prints the identity of a running process; fails when there is none
  local stat fields
  { stat=$(<"/proc/$1/stat"); } 2>/dev/null || return 1
  # The command's name, in parentheses, may contain any character; the state is the first field after it. The main thread
  # may have ended before others, which have files and ports until they end, too.
  read -r -a fields <<<"${stat##*) }"
  [[ ${fields[0]} != Z ]] || ((fields[17] > 1)) || return 1
  printf '%s %s\n' "${fields[19]}" "$(</proc/sys/kernel/random/boot_id)"
}

start_process() { # NAME COMMAND…: continues when this terminal closes; its output goes to its log; marked for scripts/down
  local name=$1 log=$LOG_DIR/$1.log
  shift
  mkdir -p "$LOG_DIR" "$RUN_DIR"
  [[ ! -e $log ]] || mv "$log" "$log.1"
  PIPELINE_OF=$LOCAL become setsid "$@" >"$log" 2>&1 </dev/null 9>&- &
  { echo $! && birth_of $!; } | write_file "$RUN_DIR/$name.pid" || true
}

pid_of() { # NAME: prints the pid of the process that start_process started, if it still runs
  local pid birth
  { read -r pid && read -r birth; } 2>/dev/null <"$RUN_DIR/$1.pid" || return 1
  [[ $(birth_of "$pid") == "$birth" ]] || return 1
  printf '%s\n' "$pid"
}

parts() { # [PREFIX…]: prints the names of all pid files, or of those that begin so
  local prefix file
  for prefix in "${@:-}"; do
    for file in "$RUN_DIR/$prefix"*.pid; do
      [[ ! -e $file ]] || basename "$file" .pid
    done
  done
}

is_running() { # NAME
  pid_of "$1" >/dev/null
}

wait_ready() { # NAME WHAT SECONDS CHECK…: until CHECK succeeds; fails when the process ends before
  local name=$1 what=$2 deadline=$((SECONDS + $3))
  shift 3
  until "$@" >/dev/null 2>&1; do
    is_running "$name" || fail "$what stopped while starting; see $LOG_DIR/$name.log"
    ((SECONDS < deadline)) || fail "$what did not become ready in time; see $LOG_DIR/$name.log"
    sleep 0.2
  done
}

stop_processes() { # SECONDS NAME…: terminates all, waits for all, then kills
  local deadline=$((SECONDS + $1)) name pid asked=()
  shift
  for name in "$@"; do
    pid=$(pid_of "$name") || continue
    kill -TERM "$pid" 2>/dev/null || true
    asked+=("$name")
  done
  for name in "${asked[@]}"; do await_end "$name" "$deadline"; done
  for name in "$@"; do rm -f "$RUN_DIR/$name.pid"; done
}

await_end() { # NAME DEADLINE
  local pid
  while pid=$(pid_of "$1"); do
    if ((SECONDS >= $2)); then
      say "$1 does not stop, killing it"
      kill -KILL "$pid" 2>/dev/null || true
    fi
    sleep 0.1
  done
  say "$1 stopped"
}
