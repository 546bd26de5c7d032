# shellcheck shell=bash
# Adds up the reports of Surefire and Failsafe.

count_reports() { # MARKER: reports newer than this file; prints "PASSED FAILED SKIPPED"
  find "$ROOT" -path '*/target/*-reports/TEST-*.xml' -newer "$1" -exec cat {} + | awk '
    function number(name) {
      return match($0, " " name "=\"[0-9]+\"") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 4) : 0
    }
    /<testsuite / {
      tests += number("tests"); skipped += number("skipped")
      failed += number("failures") + number("errors")
    }
    END { print tests - failed - skipped, failed + 0, skipped + 0 }'
}
