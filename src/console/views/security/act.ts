import type { Result } from '../../../result.ts';
import type { Refusal } from '../../api/send.ts';

/** Does something, says so, and reads everything again. A refusal stays on the page. */
export type Act = (change: () => Promise<Result<unknown, Refusal>>, done: string) => Promise<boolean>;
