/** A person's own sign-in: passkeys, browsers that are signed in, and the account they work in. */
import { useEffect, useState } from 'preact/hooks';
import {
  endOwnSession,
  leaveConsole,
  leaveEverywhere,
  ownSignIn,
  passkeyRefused,
  switchAccount,
  type ShownPasskey,
  type ShownSession,
  withChoice,
  withPasskey,
} from '../../api/sign-in.ts';
import type { Refusal } from '../../api/call.ts';
import { leave, loadSession, session } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { Facts, Page, RefusalNotice, Section } from '../../components/page.tsx';
import { toast } from '../../components/toast.tsx';
import { AccountList } from '../sign-in/account-list.tsx';
import { Passkeys, type Act } from './passkeys.tsx';
import { Chip, Time, VisitorText } from '../../components/values.tsx';
import { Table } from '../../components/table.tsx';
import { browserName } from '../../format/browser-name.ts';

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
      title="Your sign-in"
      lead="How you sign in, and where you are signed in."
      actions={
        <>
          <Button onClick={() => setIsLeaving(true)}>Sign out everywhere</Button>
          <Button
            onClick={() => void leaveConsole().then((answer) => (answer.ok ? leave() : setFailure(answer.error)))}
          >
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
          <OwnSessions sessions={own.sessions} act={act} />
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
            void leaveEverywhere().then((answer) => (answer.ok ? leave() : setFailure(answer.error)));
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

const methods: Readonly<Record<ShownSession['method'], string>> = {
  link: 'one-time link',
  passkey: 'passkey',
  oidc: 'OpenID Connect',
  access: 'Cloudflare Access',
};

/** Browsers in which the person is signed in. What a browser calls itself is text of a stranger. */
export function OwnSessions({ sessions, act }: { sessions: readonly ShownSession[]; act: Act }) {
  return (
    <Section title="Sessions">
      <Table
        caption="Sessions"
        rows={sessions}
        keyOf={({ id }) => id}
        isCurrent={({ current }) => current}
        columns={[
          { title: 'Browser', isWide: true, cell: ({ userAgent }) => <BrowserName userAgent={userAgent} /> },
          { title: 'Address', cell: ({ address }) => <VisitorText text={address} /> },
          { title: 'Signed in with', cell: ({ method }) => methods[method] },
          { title: 'Signed in', cell: ({ signedInAt }) => <Time at={signedInAt} /> },
          { title: 'Last seen', cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
          {
            title: 'Actions',
            cell: ({ id, current }) =>
              current ? (
                <Chip tone="info">this browser</Chip>
              ) : (
                <Button
                  isSmall
                  kind="danger"
                  onClick={() => void act(() => endOwnSession(id), 'The session has ended.')}
                >
                  End
                </Button>
              ),
          },
        ]}
      />
      <p class="hint">A session ends 12 hours after its last call, and after seven days in any case.</p>
    </Section>
  );
}

/** The whole text comes from a stranger: as a title it is text and nothing else. */
function BrowserName({ userAgent }: { userAgent: string }) {
  const name = browserName(userAgent);
  return name === null ? <VisitorText text={userAgent} maxChars={40} /> : <span title={userAgent}>{name}</span>;
}
