/**
 * A stream with a deadline. One that has not ended by then breaks, so that what came until then is not taken as whole. Its
 * timer ends with the stream, however that ends, and nothing rejects that nobody listens to.
 */
export function withinTime(body: ReadableStream<Uint8Array>, timeoutMs: number): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isLate = false;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      timer = setTimeout(() => {
        isLate = true;
        controller.error(new Error('The stream did not end in time'));
        discard(reader);
      }, timeoutMs);
    },
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (isLate) return;
        if (!done) return controller.enqueue(value);
        clearTimeout(timer);
        controller.close();
      } catch (error) {
        clearTimeout(timer);
        throw error;
      }
    },
    cancel() {
      clearTimeout(timer);
      discard(reader);
    },
  });
}

/** Nothing more of it is wanted. Cancelling what is broken already fails, which is no news. */
export function discard(stream: Pick<ReadableStream, 'cancel'> | null): void {
  stream?.cancel().catch(() => {});
}
