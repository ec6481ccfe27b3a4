package dev.faro.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.shuffle.MergedBlockMeta;
import org.apache.spark.network.shuffle.MergedBlocksMetaListener;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.ShuffleBlockId;
import org.junit.jupiter.api.Test;
import org.roaringbitmap.RoaringBitmap;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.Iterator;
import scala.collection.Seq;
import scala.collection.mutable.ListBuffer;

/** A reduce task that asks what a service has merged gets one answer, whatever the service says. */
class MergedMetaClientTest {
    private static final int PARTITION = 3;

    /** Answers with what it was given. */
    private static final class Service extends BlockStoreClient {
        private final MergedBlockMeta meta;

        Service(MergedBlockMeta meta) {
            this.meta = meta;
        }

        @Override
        public void getMergedBlockMeta(
                String host, int port, int shuffle, int merge, int reduce, MergedBlocksMetaListener listener) {
            listener.onSuccess(shuffle, merge, reduce, meta);
        }

        @Override
        public void fetchBlocks(String host, int port, String executor, String[] blocks,
                BlockFetchingListener listener, DownloadFileManager files) {}

        @Override
        public void close() {}
    }

    /** Map tasks 0 to 4 have something for the partition. */
    private static Deliveries deliveries() {
        ListBuffer<Tuple3<BlockId, Object, Object>> blocks = new ListBuffer<>();
        for (int map = 0; map < 5; map++) {
            blocks.$plus$eq(new Tuple3<>(new ShuffleBlockId(0, 100 + map, PARTITION), 10L, map));
        }
        ListBuffer<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> all = new ListBuffer<>();
        all.$plus$eq(new Tuple2<>(null, blocks.toList()));
        Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> iterator = all.iterator();
        return new Deliveries(iterator);
    }

    private static byte[] sets(int[]... maps) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int[] of : maps) {
            RoaringBitmap.bitmapOf(of).serialize(new DataOutputStream(bytes));
        }
        return bytes.toByteArray();
    }

    private static String answer(int chunks, byte[] sets) {
        List<String> answers = new ArrayList<>();
        MergedBlockMeta meta = new MergedBlockMeta(chunks, new NioManagedBuffer(ByteBuffer.wrap(sets)));
        new MergedMetaClient(new Service(meta), deliveries()).getMergedBlockMeta("host", 1, 0, 0, PARTITION,
                new MergedBlocksMetaListener() {
                    @Override
                    public void onSuccess(int shuffle, int merge, int reduce, MergedBlockMeta found) {
                        answers.add("success");
                    }

                    @Override
                    public void onFailure(int shuffle, int merge, int reduce, Throwable failure) {
                        answers.add("failure");
                    }
                });
        assertEquals(1, answers.size());
        return answers.get(0);
    }

    @Test
    void whatFitsPasses() throws Exception {
        assertEquals("success", answer(2, sets(new int[] {0, 1, 2}, new int[] {3, 4})));
        assertEquals("failure", answer(3, sets(new int[] {0, 1, 2}, new int[] {3, 4})));
        assertEquals("failure", answer(1, sets(new int[] {0, 1, 2}, new int[] {3, 4})));
        assertEquals("failure", answer(0, new byte[0]));
        assertEquals("failure", answer(1, sets(new int[] {0, 5})));
    }

    /** Bytes that are cut, and bytes with flipped bits. */
    @Test
    void damageHasOneAnswer() throws Exception {
        byte[] right = sets(new int[] {0, 1, 2}, new int[] {3, 4});
        for (int size = 0; size < right.length; size++) {
            assertEquals("failure", answer(2, Arrays.copyOf(right, size)), size + " bytes");
        }
        Random random = new Random(1);
        for (int i = 0; i < 2000; i++) {
            byte[] damaged = right.clone();
            damaged[random.nextInt(damaged.length)] ^= (byte) (1 << random.nextInt(8));
            damaged[random.nextInt(damaged.length)] ^= (byte) (1 << random.nextInt(8));
            answer(2, damaged);
        }
    }
}
