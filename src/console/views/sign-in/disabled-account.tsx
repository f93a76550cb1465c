/** What a member of a disabled account sees: nothing of it, and the ways out. */
import { useEffect, useState } from 'preact/hooks';
import type { Me } from '../../../contract/console/sign-in.ts';
import type { Refusal } from '../../api/call.ts';
import { leave } from '../../api/session.ts';
import { leaveConsole, switchAccount } from '../../api/sign-in.ts';
import { Button } from '../../components/button.tsx';
import { RefusalNotice } from '../../components/page.tsx';
import { VisitorText } from '../../components/values.tsx';
import { AccountList } from './account-list.tsx';

export default function DisabledAccount({ user }: { user: Me }) {
  const [error, setError] = useState<Refusal | null>(null);
  useEffect(() => {
    document.title = 'Account disabled · Gatehouse';
  }, []);
  return (
    <div class="centre">
      <main id="content">
        <h1>The account is disabled</h1>
        <p>
          You are signed in as <VisitorText text={user.email} /> in the account of{' '}
          <VisitorText text={user.account.ownerEmail} />. Only an operator of this service can enable it again.
        </p>
        <RefusalNotice error={error} />
        {user.accounts.length > 0 && (
          <>
            <p>Your other accounts:</p>
            <AccountList
              accounts={user.accounts}
              onChoose={(accountId) =>
                void switchAccount(accountId).then((answer) =>
                  answer.ok ? location.assign('/console') : setError(answer.error),
                )
              }
            />
          </>
        )}
        <div class="actions">
          <Button onClick={() => void leaveConsole().then((answer) => (answer.ok ? leave() : setError(answer.error)))}>
            Sign out
          </Button>
        </div>
      </main>
    </div>
  );
}
