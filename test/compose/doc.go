// Package compose checks docker-compose.yml and the Dockerfile against the repository, without a container engine.
package compose
