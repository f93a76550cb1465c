/** Work that goes on after responses in workerd tests. Every file waits for its own before the next one begins. */
export const background: Promise<void>[] = [];
