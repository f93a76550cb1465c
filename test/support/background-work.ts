/** What goes on behind answers in workerd tests: every file waits for its own before the next one begins. */
export const background: Promise<void>[] = [];
