/** Says what a saved version of policies, limits and origins has done, and offers the way back to the version before it. */
import { call } from '../../api/call.ts';
import { sentenceOf } from '../../components/page.tsx';
import { toast } from '../../components/toast.tsx';

/** Each save makes one version. The undo is refused where somebody has saved another one since. */
export function saidWithUndo(text: string, site: { siteKey?: string }, version: number, onUndone: () => void): void {
  const undo = async (): Promise<void> => {
    const answer = await call('/protect/policies/rollback', { ...site, version: version - 1, ifVersion: version });
    if (answer.ok) {
      toast(`Undone: version ${answer.value.version} is what version ${version - 1} was.`);
      onUndone();
    } else {
      const isTaken = answer.error.status === 409;
      const why = isTaken
        ? 'Somebody has saved another version meanwhile, so nothing was undone. The history has both.'
        : sentenceOf(answer.error);
      toast(why, { tone: 'failed' });
    }
  };
  toast(text, { undo: () => void undo() });
}
