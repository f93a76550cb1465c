/**
 * The dialog of a task, in a script of its own: most visitors never see one. The widget and the protect script load it
 * when a challenge takes long, fails, or needs the visitor.
 */
import { createTaskDialog, type DialogModule } from './dialog/task-dialog.ts';
import { provide } from './loading/asset-loader.ts';

provide('dialog', { createTaskDialog } satisfies DialogModule);
