"""How a claimed run is carried out. One file per kind of work; none of them touches the queue."""
