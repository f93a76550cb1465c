/** Under a chart of which somebody chose a part: the way back to the whole of it. */
import type { Zoom } from '../url/use-zoom.ts';
import { Button } from './button.tsx';

/** @param whole what the chart shows again, such as “the whole hour”. */
export function ZoomReset({ zoom, whole }: { zoom: Zoom; whole: string }) {
  if (!zoom.isZoomed) return null;
  return (
    <div class="actions">
      <Button isSmall onClick={zoom.reset}>
        Show {whole}
      </Button>
    </div>
  );
}
