# Sourced by java/run and python/run: runs targets one after another under libFuzzer. The script that sources it defines $language
# and a function `start TARGET ARGUMENT...`, which starts a target with arguments of libFuzzer.
#
#     run [--minutes N] [TARGET...]
#
# --minutes N   how long each target runs (default 1; 0.5 is half a minute)
#
# Output goes to out/fuzz/LANGUAGE: the inputs, the growing corpus, artifacts of findings, and a log for each target. Exit
# status 1 if there was a finding, 2 for wrong usage.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=$root/out/fuzz/$language
targets=()
minutes=1
while [ $# -gt 0 ]; do
    case $1 in
        --minutes) minutes=$2; shift 2 ;;
        -*) sed -n '4,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
        *) targets+=("$1"); shift ;;
    esac
done
if [ ${#targets[@]} -eq 0 ]; then
    targets=(open read_all follow repair message codec_lz4 codec_zstd header_block fragments merge script)
fi
seconds=$(awk -v minutes="$minutes" 'BEGIN { printf "%d", minutes * 60 }')

# libFuzzer ends its process abruptly. The files of its inputs are removed with their folder.
TMPDIR=$(mktemp -d -p "$([ -w /dev/shm ] && echo /dev/shm || echo "${TMPDIR:-/tmp}")" faro-fuzz-XXXXXX)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

# It also reads the inputs that the much faster Rust targets found so far.
corpora() {
    for folder in "$out/unpacked/$1" "$out/seeds/$1" "$root/out/fuzz/rust/corpus/$1"; do
        if [ -d "$folder" ]; then
            echo "$folder"
        fi
    done
}

guide() {
    local status=0 target
    "$root/.venv/bin/python" "$root/fuzz/make_seeds.py" "$out/seeds" >/dev/null
    "$root/.venv/bin/python" "$root/fuzz/pack.py" unpack "$out/unpacked" "${targets[@]}"
    for target in "${targets[@]}"; do
        mkdir -p "$out/corpus/$target" "$out/artifacts/$target"
        echo "== $language $target: $seconds s, log in out/fuzz/$language/$target.log"
        mapfile -t folders < <(corpora "$target")
        if ! start "$target" "$out/corpus/$target" "${folders[@]}" -timeout=10 -max_len=16384 -max_total_time="$seconds" \
            -print_final_stats=1 -dict="$root/fuzz/dictionary/faro.dict" \
            -artifact_prefix="$out/artifacts/$target/" >"$out/$target.log" 2>&1; then
            status=1
            echo "   found something: see the log"
        fi
        sed -n 's/^stat::/   /p' "$out/$target.log"
        grep -o 'cov: [0-9]* ft: [0-9]* corp: [0-9]*/[0-9KMGb]*' "$out/$target.log" | tail -1 | sed 's/^/   /' || true
    done
    return $status
}
