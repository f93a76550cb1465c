/** Settings of a list, checked against each other. */
import { type ListSettings, settingsErrors } from '../../../../contract/management/lists.ts';
import { parseSelector } from '../../../../lists/selector.ts';
import { hasHiddenValue, shownUrl } from '../../../http/shown-url.ts';
import { OperationError } from '../../operation-error.ts';

/** @throws OperationError 400 that names each field that does not fit. */
export function checkedSettings(settings: ListSettings): ListSettings {
  const errors = settingsErrors(settings);
  const selector = parseSelector(settings.selector ?? '');
  if (!selector.ok) errors.push({ path: 'selector', message: selector.error });
  if (settings.url !== null && hasHiddenValue(settings.url)) {
    errors.push({ path: 'url', message: 'has *** where a value was hidden. Write the whole address' });
  }
  if (errors.length > 0) throw new OperationError('API.INVALID_BODY', 'Some settings do not fit', errors);
  return settings;
}

/** Given fields over those that are known. An address that comes back as it was shown is the known one. */
export function mergedSettings(
  known: ListSettings,
  given: { [Field in keyof ListSettings]?: ListSettings[Field] | undefined },
): ListSettings {
  const changes = Object.entries(given).filter(([, value]) => value !== undefined);
  const merged = { ...known, ...Object.fromEntries(changes) };
  const isAsShown = known.url !== null && merged.url === shownUrl(known.url);
  return checkedSettings(isAsShown ? { ...merged, url: known.url } : merged);
}
