/** Whether the window is so narrow that a row of a table is a block of lines; as in the style sheet. */
import { useEffect, useState } from 'preact/hooks';

const NARROW = '(max-width: 640px)';

export function useIsNarrow(): boolean {
  const [isNarrow, setIsNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const query = matchMedia(NARROW);
    const onChange = () => setIsNarrow(query.matches);
    query.addEventListener('change', onChange);
    return () => query.removeEventListener('change', onChange);
  }, []);
  return isNarrow;
}
