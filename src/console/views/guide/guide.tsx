/** The installation guide under an address of its own, for accounts that have traffic already. */
import { Page } from '../../components/page.tsx';
import { Installation } from './installation.tsx';

export { Installation } from './installation.tsx';

export default function Guide() {
  return (
    <Page title="Installation guide" lead="From an empty account to a site that is protected.">
      <Installation />
    </Page>
  );
}
