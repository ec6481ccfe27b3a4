package dev.faro.testee;

import dev.faro.FileRole;
import dev.faro.hadoop.HadoopFile;
import dev.faro.storage.StoredFile;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.util.Map;
import java.util.Objects;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Objects of a server of S3 with a bucket {@code faro}, through Hadoop's S3A. */
final class S3a {
    private static final String BUCKET = "s3a://faro/";
    private final FileSystem fileSystem;
    private long names;

    S3a() {
        String endpoint = System.getenv("FARO_S3_ENDPOINT");
        Objects.requireNonNull(endpoint, "FARO_S3_ENDPOINT: the address of a server of S3 with a bucket faro");
        Configuration configuration = new Configuration(false);
        configuration.set("fs.s3a.impl", "org.apache.hadoop.fs.s3a.S3AFileSystem");
        configuration.set("fs.s3a.endpoint", endpoint);
        configuration.set("fs.s3a.endpoint.region", "us-east-1");
        configuration.set("fs.s3a.access.key", "faro");
        configuration.set("fs.s3a.secret.key", "faro");
        configuration.set("fs.s3a.aws.credentials.provider", "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider");
        configuration.setBoolean("fs.s3a.path.style.access", true);
        configuration.setBoolean("fs.s3a.connection.ssl.enabled", false);
        configuration.set("fs.s3a.fast.upload.buffer", "bytebuffer");
        try {
            fileSystem = FileSystem.newInstance(URI.create(BUCKET), configuration);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A name in the bucket that nothing has. Another testee may use the same bucket. */
    private Path unused() {
        return new Path(BUCKET + ProcessHandle.current().pid() + "/" + names++);
    }

    /** Copies a local file to the bucket. One that cannot be read is missing there, which is the same error. */
    StoredFile copy(java.nio.file.Path file) {
        Path object = new Path(unused(), file.getFileName().toString());
        if (Files.isRegularFile(file)) {
            try {
                put(fileSystem, file, object);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return new HadoopFile(fileSystem, object);
    }

    static void put(FileSystem fileSystem, java.nio.file.Path file, Path object) throws IOException {
        try (OutputStream out = fileSystem.createFile(object).overwrite(true).build()) {
            Files.copy(file, out);
        }
    }

    /** An output that is written to the bucket. */
    StorageOutput output(Map<FileRole, java.nio.file.Path> paths) {
        try {
            return new S3aOutput(fileSystem, new Path(unused(), "out"), paths);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
