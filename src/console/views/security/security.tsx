/** A person's own sign-in: passkeys, browsers that are signed in, and the account they work in. */
import { useEffect, useState } from 'preact/hooks';
import { passkeyRefused } from '../../api/passkey.ts';
import type { Refusal } from '../../api/send.ts';
import { leave, loadSession, session } from '../../api/session.ts';
import {
  ownSignIn,
  type ShownPasskey,
  type ShownSession,
  signOut,
  signOutEverywhere,
  switchAccount,
  withChoice,
  withPasskey,
} from '../../api/sign-in.ts';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { Facts, Section } from '../../components/facts.tsx';
import { RefusalNotice } from '../../components/notice.tsx';
import { Page } from '../../components/page.tsx';
import { toast } from '../../components/toast.tsx';
import { AccountList } from '../sign-in/account-list.tsx';
import type { Act } from './act.ts';
import { Passkeys } from './passkeys.tsx';
import { Sessions } from './sessions.tsx';

export default function Security() {
  const [own, setOwn] = useState<{ passkeys: ShownPasskey[]; sessions: ShownSession[] } | null>(null);
  const [failure, setFailure] = useState<Refusal | null>(null);
  const [isLeaving, setIsLeaving] = useState(false);
  const load = async (): Promise<void> => {
    const answer = await ownSignIn();
    if (answer.ok) setOwn(answer.value);
    else if (answer.error.status === 401) await loadSession();
    else setFailure(answer.error);
  };
  useEffect(() => void load(), []);
  const act: Act = async (change, done) => {
    const answer = await change();
    setFailure(answer.ok ? null : answer.error);
    if (answer.ok) toast(done);
    await load();
    return answer.ok;
  };
  const signInAgain = (): Promise<boolean> =>
    act(async () => {
      const answer = await withPasskey()();
      if (!answer.ok || answer.value.signedIn || user === null) return answer;
      if ('ticket' in answer.value) return withChoice(user.account.id, answer.value.ticket)();
      return passkeyRefused(`The passkey belongs to ${answer.value.signsInAs}. Use one of yours`);
    }, 'You have signed in again.');
  const state = session.value;
  const user = state.kind === 'signed-in' ? state.user : null;
  if (user === null) return null;
  const others = user.accounts.filter(({ accountId }) => accountId !== user.account.id);
  return (
    <Page
      title="Security"
      lead="How you sign in, and where you are signed in."
      actions={
        <>
          <Button onClick={() => setIsLeaving(true)}>Sign out everywhere</Button>
          <Button onClick={() => void signOut().then((answer) => (answer.ok ? leave() : setFailure(answer.error)))}>
            Sign out
          </Button>
        </>
      }
    >
      <RefusalNotice error={failure} />
      {failure?.key === 'CONSOLE.SIGN_IN_AGAIN' && own !== null && own.passkeys.length > 0 && (
        <div class="actions">
          <Button kind="primary" onClick={() => void signInAgain()}>
            Sign in again with a passkey
          </Button>
        </div>
      )}
      <Section title="You">
        <Facts
          facts={[
            ['Email', user.email],
            ['Role', user.role],
            ['Account', <code key="account">{user.account.id}</code>],
          ]}
        />
      </Section>
      {own !== null && (
        <>
          <Passkeys passkeys={own.passkeys} act={act} />
          <Sessions sessions={own.sessions} act={act} />
        </>
      )}
      {others.length > 0 && (
        <Section title="Your other accounts">
          <AccountList
            accounts={others}
            onChoose={(accountId) =>
              void switchAccount(accountId).then((answer) =>
                answer.ok ? location.assign('/console') : setFailure(answer.error),
              )
            }
          />
        </Section>
      )}
      {isLeaving && (
        <Confirm
          title="Sign out everywhere?"
          verb="Sign out everywhere"
          onClose={() => setIsLeaving(false)}
          onConfirm={() => {
            setIsLeaving(false);
            void signOutEverywhere().then((answer) => (answer.ok ? leave() : setFailure(answer.error)));
          }}
        >
          <p>
            {own?.sessions.length === 1 ? 'Your session ends' : `Your ${own?.sessions.length ?? ''} sessions end`} at
            once, here too.
          </p>
        </Confirm>
      )}
    </Page>
  );
}
