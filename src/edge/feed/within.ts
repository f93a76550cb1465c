/** Waits for work at most `limitMs`. The work itself goes on behind the response. */
export function within(work: Promise<unknown>, limitMs: number): Promise<unknown> {
  let timer: ReturnType<typeof setTimeout>;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}
