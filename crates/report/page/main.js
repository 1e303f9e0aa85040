// Puts everything into its place.

theme.start();
document.querySelectorAll(".scroll").forEach(watchWidth);
document.querySelectorAll("[data-chart]").forEach((place) => new Chart(place, DATA.charts[Number(place.dataset.chart)]));
document.querySelectorAll("[data-costs]").forEach((place) => new Costs(place, DATA.costs));

document.querySelectorAll("[data-map]").forEach((place) => new StillMap(place, DATA.maps[Number(place.dataset.map)]));

const stage = document.querySelector("[data-stage]");
if (stage && DATA.replays.length) {
  const place = make("div");
  let replay = null;
  const show = (index) => {
    replay?.close();
    replay = new Replay(place, DATA.replays[index]);
    replay.drawSigns();
  };
  if (DATA.replays.length > 1) {
    const options = DATA.replays.map((other, index) => make("option", { value: index }, other.label));
    stage.append(make("div", { class: "head" }, make("label", {}, "Run ", make("select", { onchange: (event) => show(Number(event.target.value)) }, ...options))));
  }
  stage.append(place);
  show(0);
}
