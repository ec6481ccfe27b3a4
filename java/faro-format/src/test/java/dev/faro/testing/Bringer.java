package dev.faro.testing;

import dev.faro.FaroException;
import dev.faro.FileRole;
import dev.faro.reader.Feed;
import dev.faro.reader.Opening;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.storage.Wanted;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Brings the bytes of an output that an {@link Opening} and its feeds want; given a seed, in random order. */
public final class Bringer {
    private final Map<FileRole, byte[]> files = new EnumMap<>(FileRole.class);
    private final Map<FileRole, Long> brought = new EnumMap<>(FileRole.class);
    private final List<String> names = new ArrayList<>();
    private final Random random;
    /** Whether each answer has much less than was wanted. */
    private final boolean stingy;
    private final List<List<Wanted>> rounds = new ArrayList<>();
    private Opening opening;
    private int outstanding;

    /** One piece of an answer. */
    private record Piece(FileRole role, int from, int to) {}

    /** Brings all that is wanted, at once. */
    public Bringer(List<Path> paths) throws IOException {
        this(paths, null);
    }

    /** Brings pieces, and forgets some of them at first. */
    public Bringer(List<Path> paths, Random random) throws IOException {
        this.random = random;
        this.stingy = random != null && random.nextBoolean();
        for (int i = 0; i < paths.size(); i++) {
            FileRole role = paths.size() == 1 ? FileRole.SINGLE : i == 0 ? FileRole.DATA : FileRole.INDEX;
            files.put(role, Files.readAllBytes(paths.get(i)));
            names.add(paths.get(i).toString());
        }
    }

    public Opening opening() {
        return opening;
    }

    /** What was wanted, round by round. */
    public List<List<Wanted>> rounds() {
        return rounds;
    }

    /** The number of buffers that a feed has not given back. */
    public int outstanding() {
        return outstanding;
    }

    /** The number of bytes of a file that were brought to the opening. */
    public long brought(FileRole role) {
        return brought.getOrDefault(role, 0L);
    }

    public Reader open(ReaderOptions options) throws FaroException {
        opening = names.size() == 1 ? Opening.ofSingle(names.get(0), options)
                : Opening.ofPair(names.get(0), names.get(1), options);
        for (List<Wanted> wanted = opening.want(); !wanted.isEmpty(); wanted = opening.want()) {
            bring(wanted);
        }
        return opening.reader();
    }

    public void bring(List<Wanted> wanted) throws FaroException {
        rounds.add(List.copyOf(wanted));
        List<Piece> pieces = new ArrayList<>();
        for (Wanted each : wanted) {
            int size = files.get(each.role()).length;
            int from = (int) (each.isFromEnd() ? Math.max(0, size - each.length()) : Math.min(size, each.offset()));
            int to = (int) (each.isFromEnd() ? size : Math.min(size, each.offset() + each.length()));
            if (stingy) {
                int count = Math.min(to - from, 24 + random.nextInt(100));
                from = each.isFromEnd() ? to - count : from;
                to = from + count;
            }
            do {
                int end = random == null || random.nextBoolean() ? to : from + random.nextInt(to - from + 1);
                int start = random == null || random.nextInt(4) > 0 ? from : random.nextInt(from + 1);
                pieces.add(new Piece(each.role(), start, end));
                from = end;
            } while (from < to);
        }
        if (random != null) {
            Collections.shuffle(pieces, random);
            if (pieces.size() > 1 && random.nextBoolean()) {
                pieces.remove(0);
            }
        }
        for (Piece piece : pieces) {
            byte[] bytes = files.get(piece.role);
            opening.bring(piece.role, piece.from, ByteBuffer.wrap(bytes, piece.from, piece.to - piece.from),
                    bytes.length);
            brought.merge(piece.role, (long) (piece.to - piece.from), Long::sum);
        }
    }

    /** Receives the buffers that a feed gives back. */
    public void taken(ByteBuffer bytes) {
        outstanding--;
    }

    /** Everything that a feed reads, and the fault at its end. */
    public List<String> transcript(Feed feed) {
        List<String> transcript = new ArrayList<>();
        try (feed) {
            Feed.State state = feed.poll();
            while (state != Feed.State.END) {
                if (state == Feed.State.BLOCK) {
                    transcript.add(Scrambled.describe(feed.blocks()));
                } else {
                    serve(feed);
                }
                state = feed.poll();
            }
        } catch (FaroException e) {
            transcript.add(e.getMessage());
        }
        return transcript;
    }

    private void serve(Feed feed) throws FaroException {
        boolean wanted;
        try {
            wanted = feed.want(random == null ? 1 << 20 : 1 + random.nextInt(5000));
        } catch (FaroException e) {
            feed.endWith(e);
            return;
        }
        if (wanted && !feed.wantedIndex().isEmpty()) {
            bring(feed.wantedIndex());
        } else if (wanted) {
            byte[] bytes = files.containsKey(FileRole.DATA) ? files.get(FileRole.DATA) : files.get(FileRole.SINGLE);
            int count = (int) (feed.wantedTo() - feed.wantedFrom());
            ByteBuffer direct = ByteBuffer.allocateDirect(count);
            direct.put(bytes, (int) feed.wantedFrom(), count).flip();
            outstanding++;
            feed.bring(direct, feed.wantedFrom());
        }
    }
}
