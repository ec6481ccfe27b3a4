/**
 * The Faro format for shuffle data: readers, writers, and what checks and repairs their files. Packages below
 * {@code dev.faro.internal} are not exported, and are not for callers on the class path either.
 */
// flatbuffers-java and lz4-java have no module descriptors.
@SuppressWarnings("requires-automatic")
module dev.faro {
    requires flatbuffers.java;
    requires org.lz4.java;
    requires com.github.luben.zstd_jni;
    // Events, if the JVM has the flight recorder.
    requires static jdk.jfr;

    exports dev.faro;
    exports dev.faro.check;
    exports dev.faro.codec;
    exports dev.faro.follow;
    exports dev.faro.hybrid;
    exports dev.faro.index;
    exports dev.faro.key;
    exports dev.faro.merge;
    exports dev.faro.plan;
    exports dev.faro.reader;
    exports dev.faro.repair;
    exports dev.faro.scheduler;
    exports dev.faro.storage;
    exports dev.faro.writer;
}
