package dev.faro.fuzz;

import dev.faro.codec.Codec;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;

/** The targets by name. */
final class Targets {
    private static final Map<String, Target> ALL = new TreeMap<>(Map.ofEntries(
            Map.entry("codec_lz4", new CodecTarget(Codec.LZ4)),
            Map.entry("codec_zstd", new CodecTarget(Codec.ZSTD)),
            Map.entry("follow", new FollowTarget()),
            Map.entry("fragments", new FragmentsTarget()),
            Map.entry("header_block", new HeaderBlockTarget()),
            Map.entry("merge", new MergeTarget()),
            Map.entry("message", new MessageTarget()),
            Map.entry("open", new OpenTarget()),
            Map.entry("read_all", new ReadAllTarget()),
            Map.entry("repair", new RepairTarget()),
            Map.entry("script", new ScriptTarget())));

    private Targets() {}

    static Iterable<String> names() {
        return ALL.keySet();
    }

    /** Runs a target on an input. */
    static Transcript run(String name, byte[] input, Folder folder) throws IOException {
        Target target = ALL.get(name);
        if (target == null) {
            throw new IllegalArgumentException("no such target: " + name);
        }
        Transcript transcript = new Transcript();
        folder.clear();
        target.run(input.clone(), folder, transcript);
        return transcript;
    }

    /** Runs a target twice; both runs must have the same result. */
    static Transcript runTwice(String name, byte[] input, Folder folder) throws IOException {
        Transcript first = run(name, input, folder);
        Broken.unless(first.toString().equals(run(name, input, folder).toString()), "two runs have the same result");
        return first;
    }
}
