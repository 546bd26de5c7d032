// Four lines on a canvas.

import {SERIES} from './rates.js';
import {$, make} from './dom.js';

const SHOWN_MS = 300_000;
const LEFT = 48;
const BOTTOM = 20;
const TOP = 8;

export function drawLegend() {
  $('legend').replaceChildren(
    ...SERIES.map(({name, color, dash}) => {
      const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
      const line = document.createElementNS('http://www.w3.org/2000/svg', 'line');
      const set = (element, values) => Object.entries(values).forEach(([key, value]) => element.setAttribute(key, value));
      set(svg, {width: 26, height: 10, 'aria-hidden': 'true'});
      set(line, {x1: 0, x2: 26, y1: 5, y2: 5, stroke: color, 'stroke-width': 2.5, 'stroke-dasharray': dash.join(' ') || 'none'});
      svg.append(line);
      return make('li', {}, svg, name);
    }),
  );
}

/** @param {{at: number, admitted: number}[]} history oldest first */
export function draw(history) {
  const canvas = $('chart');
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  const scale = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * scale)) canvas.width = Math.round(width * scale);
  if (canvas.height !== Math.round(height * scale)) canvas.height = Math.round(height * scale);
  const pen = canvas.getContext('2d');
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, width, height);
  const top = niceTop(Math.max(1, ...history.flatMap((point) => SERIES.map(({name}) => point[name]))));
  drawGrid(pen, width, height, top);
  if (history.length === 0) return;
  const end = history.at(-1).at;
  const x = (at) => width - ((end - at) / SHOWN_MS) * (width - LEFT);
  const y = (value) => TOP + (1 - value / top) * (height - TOP - BOTTOM);
  for (const {name, color, dash} of SERIES) {
    pen.strokeStyle = color;
    pen.lineWidth = 2;
    pen.setLineDash(dash);
    pen.beginPath();
    history.forEach((point, i) => pen[i === 0 ? 'moveTo' : 'lineTo'](x(point.at), y(point[name])));
    pen.stroke();
  }
  pen.setLineDash([]);
  const last = history.at(-1);
  const spoken = SERIES.map(({name}) => `${name} ${last[name].toFixed(1)}`).join(', ');
  canvas.setAttribute('aria-label', `Orders per second, now: ${spoken}`);
}

function drawGrid(pen, width, height, top) {
  pen.font = '12px system-ui, sans-serif';
  pen.fillStyle = '#675b55';
  pen.strokeStyle = '#ece4de';
  pen.lineWidth = 1;
  pen.setLineDash([]);
  pen.textAlign = 'right';
  pen.textBaseline = 'middle';
  for (let i = 0; i <= 4; i++) {
    const y = Math.round(TOP + (i / 4) * (height - TOP - BOTTOM)) + 0.5;
    pen.beginPath();
    pen.moveTo(LEFT, y);
    pen.lineTo(width, y);
    pen.stroke();
    pen.fillText(short((top * (4 - i)) / 4), LEFT - 8, y);
  }
  pen.textBaseline = 'alphabetic';
  for (let minute = 0; minute <= 5; minute++) {
    pen.textAlign = minute === 0 ? 'right' : minute === 5 ? 'left' : 'center';
    pen.fillText(minute === 0 ? 'now' : `−${minute} min`, width - (minute / 5) * (width - LEFT), height - 4);
  }
}

function niceTop(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 5, 10].map((step) => step * power).find((step) => step >= value) || value;
}

function short(value) {
  if (value >= 1000) return `${+(value / 1000).toFixed(1)}k`;
  return String(+value.toFixed(2));
}
