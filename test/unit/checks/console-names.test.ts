/** The check of the console's names finds a page that the console does not have, or has somewhere else. */
import { expect, test } from 'vitest';
import { missingViews, unknownNames } from '../../../scripts/checks/console-names.ts';

const page = (text: string) => ({ path: 'page.md', text });

test('a page of the console is named with its entry, unless both have one name', () => {
  const text =
    'Open **Bots**, then **Team and\nkeys › API keys**. Choose the form under **Rules and lists**. **Health.**\n- **Sites**: fine.';
  expect(unknownNames(page(text))).toEqual([]);
});

test('an old name, a page of another entry and a page without its entry are refused', () => {
  const text = 'In the console, this is **Edge access rules**, then **Bots › API keys**, then in\n**Sites**.';
  expect(unknownNames(page(text))).toEqual([
    'page.md: the console has no page **Edge access rules**',
    'page.md: the console has no page **Bots › API keys**',
    'page.md: write **Instances and sites › Sites** for **Sites**',
  ]);
});

test('a row for each view is asked for, and an address that leads nowhere is refused', () => {
  const found = missingViews(page('| Bots | `/console/bots` | Who came |\n| Gone | `/console/gone` | Nothing |'));
  expect(found).toContain('page.md: no row for the view Health');
  expect(found).toContain('page.md: the console has no page /console/gone');
  expect(found.filter((line) => line.includes('Bots') || line.includes('/console/bots'))).toEqual([]);
});
