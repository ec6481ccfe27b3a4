package dev.faro.bench;

import com.sun.management.ThreadMXBean;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;

/** Memory as the JVM counts it. */
final class Memory {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private Memory() {}

    /**
     * The number of bytes that this thread has allocated on the heap so far, and the current size of direct buffers.
     */
    static long taken() {
        return THREADS.getCurrentThreadAllocatedBytes()
                + ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                        .filter(pool -> pool.getName().equals("direct"))
                        .mapToLong(BufferPoolMXBean::getMemoryUsed)
                        .sum();
    }
}
