/** Accounts of one person, to choose from. */
import type { ShownMembership } from '../../api/sign-in.ts';
import { Button } from '../../components/button.tsx';

export function AccountList({
  accounts,
  onChoose,
}: {
  accounts: readonly ShownMembership[];
  onChoose: (accountId: string) => void;
}) {
  return (
    <ul class="stack">
      {accounts.map(({ accountId, ownerEmail, role }) => (
        <li key={accountId}>
          <Button onClick={() => onChoose(accountId)}>
            {ownerEmail} <span class="soft">({role})</span>
          </Button>
        </li>
      ))}
    </ul>
  );
}
