package dev.faro.spark.merge;

import dev.faro.FaroException;
import dev.faro.merge.Merge;
import dev.faro.merge.Outcome;
import dev.faro.merge.Push;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.spark.network.client.StreamCallbackWithID;
import org.apache.spark.network.server.BlockPushNonFatalFailure;
import org.apache.spark.network.server.BlockPushNonFatalFailure.ReturnCode;
import org.apache.spark.network.shuffle.protocol.BlockPushReturnCode;
import org.apache.spark.network.shuffle.protocol.PushBlockStream;

/**
 * A block that is being pushed. Whatever is wrong with it is answered at its end, after all its bytes were taken, so that
 * the connection stays usable for other pushes.
 */
final class ReceivedPush implements StreamCallbackWithID {
    private static final ByteBuffer SUCCESS =
            new BlockPushReturnCode(ReturnCode.SUCCESS.id(), "").toByteBuffer().asReadOnlyBuffer();

    private final String id;
    /** Null if the push is over. */
    private Push push;
    private Runnable whenMerged = () -> {};
    /** The bytes that have arrived. */
    private long bytes;
    private ReturnCode refused;
    private Exception failure;

    private ReceivedPush(PushBlockStream block) {
        this.id = "shufflePush_" + block.shuffleId + "_" + block.shuffleMergeId + "_" + block.mapIndex + "_"
                + block.reduceId;
    }

    /** A push that is refused before it begins. */
    static ReceivedPush refused(PushBlockStream block, ReturnCode code) {
        ReceivedPush received = new ReceivedPush(block);
        received.refused = code;
        return received;
    }

    /** A push that cannot begin. */
    static ReceivedPush failed(PushBlockStream block, Exception failure) {
        ReceivedPush received = new ReceivedPush(block);
        received.failure = failure;
        return received;
    }

    static ReceivedPush into(Merge merge, PushBlockStream block, RecentMerges recent) throws FaroException {
        ReceivedPush received = new ReceivedPush(block);
        received.whenMerged = () -> recent.used(merge, received.bytes);
        Merge.Begun begun = merge.begin(block.mapIndex, block.shuffleMergeId);
        received.push = begun.push();
        received.ends(begun.refused());
        return received;
    }

    @Override
    public String getID() {
        return id;
    }

    @Override
    public void onData(String stream, ByteBuffer arrived) {
        bytes += arrived.remaining();
        if (push != null) {
            try {
                ends(push.write(arrived));
            } catch (FaroException | RuntimeException e) {
                fails(e);
            }
        }
        arrived.position(arrived.limit());
    }

    @Override
    public void onComplete(String stream) throws IOException {
        if (push != null) {
            try {
                ends(push.commit());
            } catch (FaroException | RuntimeException e) {
                fails(e);
            }
        }
        if (failure != null) {
            throw new IOException(id + " is not merged: " + failure.getMessage(), failure);
        }
        if (refused != null) {
            throw new BlockPushNonFatalFailure(new BlockPushReturnCode(refused.id(), id).toByteBuffer(),
                    BlockPushNonFatalFailure.getErrorMsg(id, refused));
        }
    }

    @Override
    public void onFailure(String stream, Throwable cause) {
        if (push != null) {
            push.close();
            push = null;
        }
    }

    @Override
    public ByteBuffer getCompletionResponse() {
        return SUCCESS.duplicate();
    }

    private void fails(Exception e) {
        onFailure(id, e);
        failure = e;
    }

    /** What the producer is answered. Without an outcome the push goes on. */
    private void ends(Outcome outcome) {
        if (outcome == null) {
            return;
        }
        push = null;
        if (outcome == Outcome.MERGED) {
            whenMerged.run();
        }
        switch (outcome) {
            // Another attempt of the map task was faster: there is nothing to push again.
            case MERGED, DUPLICATE, OTHER_ATTEMPT -> refused = null;
            case LATE -> refused = ReturnCode.TOO_LATE_BLOCK_PUSH;
            case STALE -> refused = ReturnCode.STALE_BLOCK_PUSH;
            case COLLISION -> refused = ReturnCode.BLOCK_APPEND_COLLISION_DETECTED;
            case GAP -> failure = new IOException("the block does not begin where the merged file ends");
        }
    }
}
