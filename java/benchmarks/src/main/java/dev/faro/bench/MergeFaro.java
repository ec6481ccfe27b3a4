package dev.faro.bench;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.faro.Framing;
import dev.faro.merge.Merge;
import dev.faro.merge.MergeOptions;
import dev.faro.merge.Push;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;

/** Faro: each fragment is a push; its bytes come in the pieces that are read. */
final class MergeFaro implements WriteSubject {
    private final PushedBlocks pushed;
    private final Path name;
    private long indexBytes;

    MergeFaro(PushedBlocks pushed) {
        this.pushed = pushed;
        this.name = pushed.folder().resolve("merged");
    }

    @Override
    public String name() {
        return "faro";
    }

    @Override
    public long plainBytes() {
        return pushed.plainBytes();
    }

    /** Pushes each fragment to a merge. */
    private static final class Service implements PushedBlocks.Service {
        private final Merge merge;
        private Push push;
        private long next;

        Service(Merge merge) {
            this.merge = merge;
        }

        @Override
        public void begin() throws IOException {
            push = merge.begin(next++, 0).push();
        }

        @Override
        public void take(ByteBuffer bytes) throws IOException {
            if (push.write(bytes) != null) {
                throw new IOException("a push was refused");
            }
        }

        @Override
        public void commit() throws IOException {
            if (push.commit() != dev.faro.merge.Outcome.MERGED) {
                throw new IOException("a push was refused");
            }
        }
    }

    @Override
    public Outcome write() throws Exception {
        try (Merge merge = Merge.create(name, new MergeOptions(1).framing(Framing.OPAQUE))) {
            long begin = System.nanoTime();
            PushedBlocks.eachPush(pushed.fragments(), pushed.fragmentBytes(), new Service(merge));
            long runs = merge.finish().runs();
            long nanos = System.nanoTime() - begin;
            if (runs != pushed.blocks()) {
                throw new IOException(runs + " runs of " + pushed.blocks());
            }
            indexBytes = Files.size(Path.of(name + ".index"));
            return new Outcome(nanos, Files.size(Path.of(name + ".data")), indexBytes, 2);
        }
    }

    @Override
    public ObjectNode figures() {
        return JsonNodeFactory.instance.objectNode().put("index_bytes_each", (double) indexBytes / pushed.blocks());
    }

    @Override
    public void clear() throws IOException {
        Files.deleteIfExists(Path.of(name + ".data"));
        Files.deleteIfExists(Path.of(name + ".index"));
    }
}
