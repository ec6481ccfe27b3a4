package dev.faro.flink;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import org.apache.flink.runtime.io.network.partition.PartitionNotFoundException;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The errors of consumers when reading fails. If one of the causes is a missing partition, Flink runs its producer again;
 * otherwise it would let the consumer read the same bytes again.
 *
 * @param owner the task that writes or wrote the partition
 * @param output the path of the files without extension
 */
record ReadFailures(ResultPartitionID id, String owner, Path output) {
    private static final Logger LOG = LoggerFactory.getLogger(ReadFailures.class);

    Throwable of(Throwable fault) {
        if (!(fault instanceof FaroException e) || e.code() == ErrorCode.INVALID_ARGUMENT
                || e.getCause() instanceof InterruptedIOException) {
            LOG.warn("{}: reading {} failed.", owner, output, fault);
            return fault;
        }
        LOG.warn("{}: {} cannot be read, its producer has to run again.", owner, output, fault);
        return notFound(fault.getMessage());
    }

    /** The failure of a consumer if the partition was released meanwhile. */
    IOException released() {
        return notFound("the result partition was released while it was read");
    }

    private IOException notFound(String message) {
        return new IOException(message, new PartitionNotFoundException(id));
    }
}
