/**
 * The service's scheduled run, once a minute: work that was begun by a request and must finish without
 * one. Tasks are independent; one that fails is logged and does not stop the next.
 */
import { preparePowKeys } from './captcha/engine.ts';

export interface ScheduledTask {
  name: string;
  run(env: ServiceEnv, now: number): Promise<void>;
}

const tasks: readonly ScheduledTask[] = [{ name: 'pow-keys', run: preparePowKeys }];

export async function runScheduled(controller: ScheduledController, env: ServiceEnv): Promise<void> {
  for (const task of tasks) {
    try {
      await task.run(env, controller.scheduledTime);
    } catch (error) {
      console.error(JSON.stringify({ event: 'scheduled-task-failed', task: task.name, message: String(error) }));
    }
  }
}
